"""Read the mailbox of the local cloud, and the command that the demo data prints."""

import re
import subprocess
import sys
from typing import Any

import httpx

from tests.e2e.cloud import TIMEOUT_S, Cloud


def messages(cloud: Cloud) -> list[dict[str, Any]]:
    """Return the messages in the mailbox, oldest first."""
    response = httpx.get(cloud.demo["mailbox"], timeout=TIMEOUT_S, trust_env=False)
    listed: list[dict[str, Any]] = response.json()
    return listed


def printed_command(cloud: Cloud) -> str:
    """Return the shell command that the demo prints to import a purchase."""
    options = ("--base-url", cloud.base_url, "--output", str(cloud.folder / "demo.json"))
    result = subprocess.run(
        [sys.executable, "-m", "admin", "demo-data", "load", *options],
        env=cloud.environment() | {"DEMO_MAILBOX": cloud.demo["mailbox"]},
        check=True,
        capture_output=True,
        text=True,
    )
    (command,) = re.findall("^echo .*$", result.stdout, re.MULTILINE)
    return str(command)
