"""Run child processes for benchmarks with the project's interpreter and a fixed environment."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parent.parent
PYTHON: Final = sys.executable


def environment() -> dict[str, str]:
    """Return environment variables as in a deployed function, but with invalid AWS credentials."""
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
    """Run the interpreter with these arguments and return its standard output.

    Raises:
        RuntimeError: the process failed. The message contains its standard error output.
    """
    process = subprocess.run(
        [PYTHON, *arguments], cwd=PROJECT, env=environment(), capture_output=True, text=True
    )
    if process.returncode != 0:
        raise RuntimeError(process.stderr)
    return process.stdout
