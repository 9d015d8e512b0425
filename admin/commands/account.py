"""The command ``account``: create and list accounts, and show their numbers of records."""

from dataclasses import asdict
from typing import Annotated

import typer

from admin.terminal import JsonOption, notices, results, show_json, show_table
from chalicelib.domain.errors import Conflict
from chalicelib.domain.ids import parse_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.accounts import manage
from chalicelib.services.accounts.stats import read_stats

app = typer.Typer(help="Create, list and count the records of accounts.", no_args_is_help=True)


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


@app.command()
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
    results().print(account.id)


@app.command("list")
def list_accounts() -> None:
    """List all accounts, oldest first."""
    show_table(
        ["Id", "Name", "Created"],
        [
            [account.id, account.name, format_timestamp(account.created_at)]
            for account in manage.list_accounts()
        ],
    )


@app.command()
def stats(account: AccountArgument, as_json: JsonOption = False) -> None:
    """Show the numbers of customers, contact forms, surveys, purchases and feedback records.

    The numbers come from counters. The command sends two AWS requests. To verify the counters
    against the records, use the command recount.

    Example: python -m admin account stats 7f3a0c1e-6a38-4b57-9d52-0c4c1f4f7a00 --json
    """
    numbers = asdict(read_stats(account))
    if as_json:
        show_json(numbers)
        return
    show_table(
        ["Records", "Number"],
        [[name.replace("_", " "), str(number)] for name, number in numbers.items()],
    )
