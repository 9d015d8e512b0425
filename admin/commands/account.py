"""``account``: the accounts of the service."""

from typing import Annotated

import typer

from admin.terminal import notices, results, show_table
from chalicelib.domain.errors import Conflict
from chalicelib.domain.ids import parse_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.accounts.manage import create_account
from chalicelib.storage import accounts

app = typer.Typer(help="Accounts.", no_args_is_help=True)


def account_id_of(text: str) -> str:
    """The account id that an argument gives, in lower case; a usage error when it is none."""
    account_id = parse_id(text)
    if account_id is None:
        raise typer.BadParameter("Must be a UUID in the form 8-4-4-4-12.")
    return account_id


AccountArgument = Annotated[
    str, typer.Argument(metavar="ACCOUNT", help="The account's id.", parser=account_id_of)
]


def _name(text: str) -> str:
    name = text.strip()
    if not 1 <= len(name) <= 255:
        raise typer.BadParameter("1 to 255 characters.")
    return name


@app.command()
def create(
    name: Annotated[
        str, typer.Argument(help="What the account is called.", parser=_name, metavar="NAME")
    ],
    account_id: Annotated[
        str | None,
        typer.Option("--id", help="Its id, in place of a new one.", parser=account_id_of),
    ] = None,
) -> None:
    """Create an account; its id is printed."""
    existing = accounts.find(account_id) if account_id else None
    if existing:
        raise Conflict(f"There is an account with this id already: {existing.name}.")
    account = create_account(name, account_id)
    notices().print(f"The account {account.name} is created. Its id:")
    results().print(account.id)


@app.command("list")
def list_accounts() -> None:
    """List all accounts, oldest first."""
    all_accounts = sorted(accounts.list_all(), key=lambda account: (account.created_at, account.id))
    show_table(
        ["Id", "Name", "Created"],
        [[each.id, each.name, format_timestamp(each.created_at)] for each in all_accounts],
    )
