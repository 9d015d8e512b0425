"""Child processes for measurements: the project's interpreter in a fixed environment."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parent.parent
PYTHON: Final = sys.executable


def environment() -> dict[str, str]:
    """Return the environment of a deployed function, without access to a real account."""
    inherited = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
    return inherited | {
        "STAGE": "test",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_SESSION_TOKEN": "testing",
        "AWS_REGION": "eu-west-1",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def run(*arguments: str | Path) -> str:
    """Run this interpreter with these arguments and return its output.

    Raises:
        RuntimeError: the process failed; the message is its error output.
    """
    done = subprocess.run(
        [PYTHON, *arguments], cwd=PROJECT, env=environment(), capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout
