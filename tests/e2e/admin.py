"""Run the command line against the local cloud."""

import subprocess
import sys

from chalicelib.services.caching import clear_caches
from tests.admin.command import run
from tests.e2e.cloud import STAGE, Cloud


def admin(cloud: Cloud, *arguments: str, **variables: str) -> str:
    """Run the operator command line and return its output without surrounding white space.

    It runs in this process, unless it needs another environment: start-up takes seconds.

    Args:
        variables: additional environment variables.
    """
    if cloud.stage == STAGE and not variables:
        clear_caches()
        in_process = run(*arguments)
        assert in_process.exit_code == 0, in_process.output
        return str(in_process.stdout).strip()
    result = subprocess.run(
        [sys.executable, "-m", "admin", *arguments],
        env=cloud.environment() | variables,
        check=True,
        capture_output=True,
        text=True,
    )
    return result.stdout.strip()
