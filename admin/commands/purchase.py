"""The command ``purchase``: import and show purchases."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from admin.commands.account import AccountArgument, id_argument
from admin.definitions.purchase_lines import (
    PurchaseFile,
    PurchaseLine,
    UnreadableFile,
    open_purchases,
)
from admin.error_messages import one_line_message
from admin.options import example
from admin.services.accounts.manage import require_account
from admin.terminal import notices, progress_bar, show_json, show_record
from chalicelib.concurrency import map_concurrently
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.purchases.purchase import purchase_id
from chalicelib.services.purchases.read import read_purchase
from chalicelib.services.purchases.record import record_purchase

MAX_WRITERS: Final = 8
_AT_ONCE: Final = 100
"""The number of lines between two updates of the progress bar."""

_Record = Callable[[Sequence[PurchaseLine]], list[tuple[int, str]]]

app = typer.Typer(help="Import and show purchases.", no_args_is_help=True)

SourceArgument = Annotated[
    DataSource,
    typer.Argument(metavar="SOURCE", help="The purchase's source, for example Site."),
]
ExternalIdArgument = Annotated[
    str, typer.Argument(metavar="EXTERNAL_ID", help="The purchase's id in the external system.")
]


@app.command("import", epilog=example("purchase import orders.csv --account ACCOUNT --solicit"))
def import_file(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A CSV or JSON Lines file, or - for JSON lines on standard input.",
            dir_okay=False,
        ),
    ],
    account: Annotated[str, typer.Option(help="The account's id.", parser=id_argument)],
    solicit: Annotated[
        bool, typer.Option("--solicit", help="Send surveys about the purchases.")
    ] = False,
) -> None:
    """Record the purchases in a file. Without --solicit, no surveys are sent for these purchases.

    Each line is validated and recorded separately. An invalid line is reported with its number and
    does not affect other lines. You can import the same file again: no purchase is recorded twice.

    A CSV file has the columns source, externalId, storeId, date, startDate, endDate, customerId,
    customer.NAME for a field of the customer, such as customer.email, and metadata.NAME for any
    metadata property. Empty cells are ignored.
    """
    require_account(account)
    try:
        with open_purchases(file) as purchases:
            recorded, rejected = _import(file, purchases, partial(_record_group, account, solicit))
    except UnreadableFile as error:
        notices().print(f"{file}: {error}")
        raise typer.Exit(1) from None
    counts = {"recorded": recorded, "invalid": rejected}
    show_record(counts, f"Recorded: {recorded}. Invalid: {rejected}.")
    if rejected:
        raise typer.Exit(1)


def _import(file: Path, purchases: PurchaseFile, record: _Record) -> tuple[int, int]:
    """Record the purchases of a file. Return the numbers of recorded and of rejected lines."""
    rejected = done = 0
    try:
        with progress_bar("Importing", purchases.total) as advance:
            while window := list(islice(purchases.lines, _AT_ONCE)):
                for errors in map_concurrently(record, _groups(window), MAX_WRITERS):
                    for number, message in errors:
                        if message:
                            notices().print(f"{file}, line {number}: {message}")
                            rejected += 1
                        done += 1
                        advance()
    except BaseException:
        notices().print(
            f"At least {done} of {purchases.total} lines are processed. Import the file again to"
            " continue."
        )
        raise
    return done - rejected, rejected


@app.command("show", epilog=example("purchase show ACCOUNT Site ORDER-1"))
def show_purchase(
    account: AccountArgument, source: SourceArgument, external_id: ExternalIdArgument
) -> None:
    """Show a purchase with its customer, as the API returns it.

    Cost: three AWS requests.
    """
    purchase = read_purchase(account, purchase_id(account, source, external_id))
    show_json(purchase.model_dump(mode="json"))


def _groups(window: Sequence[PurchaseLine]) -> list[list[PurchaseLine]]:
    """Group the lines of the same purchase. The lines of a group are recorded one after another."""
    groups: dict[Any, list[PurchaseLine]] = {}
    for line in window:
        definition = line.definition if isinstance(line.definition, dict) else {}
        key = str(definition.get("source")), str(definition.get("externalId"))
        groups.setdefault(key if definition else line.number, []).append(line)
    return list(groups.values())


def _record_group(
    account_id: str, solicit: bool, lines: Sequence[PurchaseLine]
) -> list[tuple[int, str]]:
    """Record the lines. Return the number of each line and its error, or ``""``."""
    return [(line.number, _record(account_id, solicit, line)) for line in lines]


def _record(account_id: str, solicit: bool, line: PurchaseLine) -> str:
    if line.error:
        return line.error
    try:
        record_purchase(account_id, line.definition, solicit=solicit)
    except (InvalidInput, InputTooLarge) as error:
        return one_line_message(error)
    return ""
