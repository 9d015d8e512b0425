"""Running the command line in process."""

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from admin.main import app
from chalicelib.domain.ids import new_id
from chalicelib.services.accounts.manage import create_account


def run(*arguments: str | Path) -> Any:
    """The result of ``python -m admin`` with these arguments; a bug in it is raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def an_account(name: str = "Test") -> str:
    """The id of a new account."""
    return create_account(name, new_id()).id
