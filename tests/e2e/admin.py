"""Run the command line against the local cloud."""

import subprocess
import sys

from tests.e2e.cloud import Cloud


def admin(cloud: Cloud, *arguments: str, **variables: str) -> str:
    """Run the operator command line and return its output without surrounding white space.

    Args:
        variables: additional environment variables.
    """
    result = subprocess.run(
        [sys.executable, "-m", "admin", *arguments],
        env=cloud.environment() | variables,
        check=True,
        capture_output=True,
        text=True,
    )
    return result.stdout.strip()
