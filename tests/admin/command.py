"""Run the command line in the test process."""

from functools import cache
from pathlib import Path
from typing import Any

import typer.testing
from typer.main import get_command
from typer.testing import CliRunner

from admin.main import app
from admin.services.accounts.manage import create_account
from chalicelib.domain.ids import new_id

# Typer builds its command objects for each invocation. Building takes most of the time.
typer.testing._get_command = cache(get_command)


def minute(timestamp: str) -> str:
    """Return a timestamp of the JSON output as tables show it in UTC."""
    return timestamp[:16].replace("T", " ")


def run(*arguments: str | Path) -> Any:
    """Run ``bin/feedback-admin`` with these arguments and return its exit code and output.

    An unhandled exception propagates to the test.
    """
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def new_account(name: str = "Test") -> str:
    """Create an account and return its id."""
    return create_account(name, new_id()).id
