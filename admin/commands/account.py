"""The command ``account``: create and list accounts."""

from typing import Annotated

import typer

from admin.options import example
from admin.terminal import notices, show, show_table
from chalicelib.domain.errors import Conflict
from chalicelib.domain.ids import parse_id
from chalicelib.services.accounts import manage

app = typer.Typer(help="Create and list accounts.", no_args_is_help=True)


def id_argument(text: str) -> str:
    """Parse the id in a command line argument and convert it to lower case.

    Raises:
        BadParameter: the text is not a UUID.
    """
    parsed = parse_id(text)
    if parsed is None:
        raise typer.BadParameter("Must be a UUID of the form 8-4-4-4-12.")
    return parsed


AccountArgument = Annotated[
    str, typer.Argument(metavar="ACCOUNT", help="The account's id.", parser=id_argument)
]


def _name(text: str) -> str:
    name = text.strip()
    if not 1 <= len(name) <= 255:
        raise typer.BadParameter("Must be 1 to 255 characters.")
    return name


@app.command(epilog=example('account create "Maison Lumen"'))
def create(
    name: Annotated[str, typer.Argument(help="The account's name.", parser=_name, metavar="NAME")],
    account_id: Annotated[
        str | None,
        typer.Option("--id", help="The account's id. Default: a new id.", parser=id_argument),
    ] = None,
) -> None:
    """Create an account and print its id."""
    existing = manage.find_account(account_id) if account_id else None
    if existing:
        raise Conflict(f"An account with this id already exists: {existing.name}.")
    account = manage.create_account(name, account_id)
    notices().print(f"Created the account {account.name}. Its id:")
    show({"id": account.id, "name": account.name}, account.id)


@app.command("list", epilog=example("account list"))
def list_accounts() -> None:
    """List all accounts, oldest first."""
    show_table(
        ["Id", "Name", "Created"],
        [[account.id, account.name, account.created_at] for account in manage.list_accounts()],
    )
