"""The command ``purchase``: import, list and show purchases."""

import codecs
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

import typer

from admin.display.purchases import show_purchases
from admin.options import (
    EXTERNAL_ID,
    SOURCE,
    AccountArgument,
    WideOption,
    example,
    id_option,
    limit_option,
)
from admin.services.accounts.manage import require_open_account
from admin.services.accounts.settings import current_settings
from admin.services.purchases.csv_format import WINDOWS_ENCODING, DateOrder, cell_error
from admin.services.purchases.purchase_lines import (
    PurchaseFile,
    PurchaseLine,
    Reading,
    UnreadableFile,
    open_purchases,
)
from admin.services.purchases.stored import (
    is_stored,
    last_purchases,
    list_purchases,
    time_of_import,
)
from admin.terminal import notices, progress, show_json, show_record
from chalicelib.concurrency import map_concurrently
from chalicelib.domain.accounts.places import PlaceKind
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.errors import InvalidInput, RecordTooLarge
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.paging import in_groups
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.definition import PurchaseDefinition, check_rules
from chalicelib.domain.purchases.purchase import purchase_id
from chalicelib.domain.suggestions import pointer_steps
from chalicelib.services.accounts.directory import account_directory, current_directory
from chalicelib.services.customers.read import find_customer, read_customer
from chalicelib.services.purchases.read import read_purchase
from chalicelib.services.purchases.record import record_purchase

MAX_WRITERS: Final = 8
_AT_ONCE: Final = 100
"""The number of lines between two updates of the progress bar."""

app = typer.Typer(help="Import, list and show purchases.", no_args_is_help=True)


def _encoding(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise typer.BadParameter("Must be the name of an encoding, such as windows-1252.") from None


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
    account: Annotated[str, id_option("The account's id.")],
    solicit: Annotated[
        bool, typer.Option("--solicit", help="Send surveys about the purchases.")
    ] = False,
    dates: Annotated[
        DateOrder | None,
        typer.Option(
            help="How to read dates such as 03/04/2026. Needed only if a column can be read both "
            "ways.",
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            help="The encoding of a CSV file, such as windows-1251. Default: UTF-8, UTF-16 with a "
            "byte order mark, otherwise windows-1252.",
            parser=_encoding,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Validate and compare the purchases, and record nothing."),
    ] = False,
) -> None:
    """Record the purchases in a file. Without --solicit, no surveys are sent for these purchases.

    Each line is validated and recorded separately. An invalid line is reported with its number and
    does not affect other lines. You can import the same file again: no purchase is recorded twice.

    A CSV file has the columns source, externalId, storeId, date, startDate, endDate, customerId,
    customer.NAME for a field of the customer, such as customer.email, and metadata.NAME for any
    metadata property. Empty cells are ignored. The column store contains the key or the name of a
    store and replaces storeId. Separators, dates (in the time zone of the account) and words for
    yes and no are accepted as Excel writes them. JSON lines have the fields of the API, or `store`.
    """
    require_open_account(account)
    zone = ZoneInfo(current_settings(account).time_zone)
    reading = Reading(dates, encoding, zone, _stores(account))
    record = partial(_check if dry_run else _record, account, solicit, time_of_import(account))
    try:
        with open_purchases(file, reading) as purchases:
            if purchases.encoding == WINDOWS_ENCODING != encoding:
                notices().print(
                    f"{file}: Not UTF-8. Read as {WINDOWS_ENCODING}; for another one, add"
                    " --encoding."
                )
            outcomes = _import(account, file, purchases, record)
    except UnreadableFile as error:
        notices().print(f"{file}: {error}")
        raise typer.Exit(1) from None
    counts = {name: outcomes[name] for name in ("new", "updated", "unchanged", "invalid")}
    text = " ".join(f"{name.capitalize()}: {number}." for name, number in counts.items())
    show_record(counts, f"Nothing was recorded. {text}" if dry_run else text)
    if counts["invalid"]:
        raise typer.Exit(1)


def _stores(account_id: str) -> dict[str, str | None]:
    """Return the ids of stores by name and by key; None for a name that several stores have."""
    found = [p for p in current_directory(account_id).places if p.kind is PlaceKind.STORE]
    names = Counter(place.name.casefold() for place in found)
    by_name = {p.name.casefold(): p.id if names[p.name.casefold()] == 1 else None for p in found}
    return by_name | {place.key.casefold(): place.id for place in found if place.key}


def _import(
    account_id: str, file: Path, purchases: PurchaseFile, record: Callable[[PurchaseLine], str]
) -> Counter[str]:
    """Record the purchases of a file. Return the number of lines by outcome.

    Args:
        record: records or validates a line, and returns its error or ``""``.
    """

    def record_group(lines: Sequence[PurchaseLine]) -> list[tuple[int, str]]:
        return [(line.number, record(line)) for line in lines]

    done = 0
    outcomes: Counter[str] = Counter()
    try:
        with progress("Importing", purchases.total) as advance:
            for window in in_groups(purchases.lines, _AT_ONCE):
                stored = _outcomes_of(account_id, window)
                for errors in map_concurrently(record_group, _groups(window), MAX_WRITERS):
                    for number, message in errors:
                        if message:
                            notices().print(f"{file}, line {number}: {message}")
                        outcomes["invalid" if message else stored[number]] += 1
                        done += 1
                        advance()
    except BaseException:
        notices().print(
            f"At least {done} of {purchases.total} lines are processed. Import the file again to"
            " continue."
        )
        raise
    return outcomes


def _outcomes_of(account_id: str, window: Sequence[PurchaseLine]) -> dict[int, str]:
    """Return whether the purchase of each valid line is new, updated or unchanged, by number."""
    valid: dict[int, PurchaseDefinition] = {}
    for line in window:
        with suppress(InvalidInput):
            valid[line.number] = _parsed(line)
    stored = is_stored(account_id, list(valid.values()))
    outcomes: dict[int, str] = {}
    seen: dict[tuple[str, str], PurchaseDefinition] = {}
    for (number, purchase), is_same in zip(valid.items(), stored, strict=True):
        key = purchase.source.value, purchase.external_id
        same = seen[key] == purchase if key in seen else is_same
        outcomes[number] = {None: "new", False: "updated", True: "unchanged"}[same]
        seen[key] = purchase
    return outcomes


@app.command(
    "list",
    epilog=example(
        "purchase list ACCOUNT --limit 100", "purchase list ACCOUNT --customer CUSTOMER"
    ),
)
def list_all(
    account: AccountArgument,
    customer: Annotated[str | None, id_option("List only the purchases of this customer.")] = None,
    limit: Annotated[int, limit_option("purchases", 100_000)] = 50,
    _wide: WideOption = False,
) -> None:
    """List purchases: the last recorded ones first; of a customer, the latest ones first.

    Cost: three AWS requests, plus one per 100 purchases.
    """
    if customer:
        read_customer(account, customer)
        listed = list_purchases(account, customer)[:limit]
    else:
        listed = list(last_purchases(account, limit))
    show_purchases(current_directory(account), listed)


@app.command("show", epilog=example("purchase show ACCOUNT Site ORDER-1"))
def show_purchase(
    account: AccountArgument,
    source: Annotated[DataSource, SOURCE],
    external_id: Annotated[str, EXTERNAL_ID],
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


def _check(account_id: str, _solicit: bool, _started_at: datetime, line: PurchaseLine) -> str:
    """Validate a line. Return its error, or ``""``."""

    def has_customer(customer_id: str) -> bool:
        return find_customer(account_id, customer_id) is not None

    def check() -> None:
        check_rules(_parsed(line), account_directory(account_id), has_customer)

    return _error_of(line, check)


def _record(account_id: str, solicit: bool, started_at: datetime, line: PurchaseLine) -> str:
    """Record a line. Return its error, or ``""``.

    The file is older than a version that arrives during the import.
    """

    def record() -> None:
        record_purchase(account_id, _parsed(line), solicit=solicit, sent_at=started_at)

    return _error_of(line, record)


def _parsed(line: PurchaseLine) -> PurchaseDefinition:
    return parse(line.definition, PurchaseDefinition)


def _error_of(line: PurchaseLine, process: Callable[[], object]) -> str:
    if line.error:
        return line.error
    try:
        process()
    except InvalidInput as error:
        return "; ".join(map(partial(_error_text, line.cells), error.errors))
    except RecordTooLarge as error:
        return str(error)
    return ""


def _error_text(cells: Mapping[str, str], error: InputError) -> str:
    column = ".".join(pointer_steps(error.pointer))
    if cell := cells.get(column, "").strip():
        return cell_error(column, cell, error)
    return f"{error.pointer or '/'}: {error.detail}"
