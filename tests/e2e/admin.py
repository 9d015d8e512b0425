"""Run the command line against the local cloud."""

import subprocess
import sys

from tests.e2e.cloud import Cloud


def admin(cloud: Cloud, *arguments: str) -> str:
    """Run the command line and return its output without surrounding white space."""
    result = subprocess.run(
        [sys.executable, "-m", "admin", *arguments],
        env=cloud.environment(),
        check=True,
        capture_output=True,
        text=True,
    )
    return result.stdout.strip()
