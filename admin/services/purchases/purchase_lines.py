"""Read purchases line by line from a CSV or JSON Lines file. An invalid line does not end the file.

`purchase_of_row` describes the columns of a CSV file.
"""

import csv
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from io import TextIOWrapper
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any, Final, TextIO

from admin.domain.json_lines import json_lines
from admin.services.purchases.csv_format import (
    WINDOWS_ENCODING,
    AmbiguousDates,
    DateOrder,
    DateOrders,
    column_errors,
    encoding_of,
    iso_date,
    missing_columns,
    purchase_of_row,
    separator_of,
)
from chalicelib.domain.purchases.definition import with_offsets

STANDARD_INPUT: Final = Path("-")


@dataclass(frozen=True)
class PurchaseLine:
    """The definition of a purchase, or the error of its line.

    Attributes:
        number: the number of the line, from 1. For a CSV row with line breaks, the number of the
            first line of the row.
        error: why the line cannot be read; ``""`` if the line is readable.
        cells: the cells of a CSV row by column, as they are in the file.
    """

    number: int
    definition: Any = None
    error: str = ""
    cells: Mapping[str, str] = field(default_factory=dict)


class UnreadableFile(Exception):
    """The file cannot be read. The message states the reason in one sentence."""


@dataclass(frozen=True)
class PurchaseFile:
    """An open file of purchases.

    Attributes:
        total: the number of lines, without empty lines.
        lines: the lines, without empty lines. They are read while the caller iterates.
        encoding: the encoding of the file.
    """

    total: int
    lines: Iterator[PurchaseLine]
    encoding: str = "utf-8"


@dataclass(frozen=True)
class Reading:
    """How a CSV file is read.

    Attributes:
        dates: the order of day and month, or None to determine it from the cells.
        encoding: the encoding, or None to recognize it.
        zone: the time zone of dates such as 20/11/2026, and of times without offset.
        stores: the ids of stores by key and by name, in lower case; None for a name that several
            stores have.
    """

    dates: DateOrder | None = None
    encoding: str | None = None
    zone: tzinfo = UTC
    stores: Mapping[str, str | None] = field(default_factory=dict)


@contextmanager
def open_purchases(path: Path, reading: Reading = Reading()) -> Iterator[PurchaseFile]:
    """Open a file of purchases. The file is read twice, so that a large file needs little memory.

    If the path is ``-``, read JSON lines from standard input. A CSV file without byte order mark
    that is not UTF-8 is read as `WINDOWS_ENCODING`.

    Raises:
        UnreadableFile: the file type is unknown, the file is not in the encoding, contains no
            purchase or an unknown column, or the order of day and month is not clear.
    """
    is_csv = path.suffix.lower() == ".csv"
    if path != STANDARD_INPUT and not is_csv and path.suffix.lower() not in _JSON_LINES:
        allowed = ", ".join((".csv", *_JSON_LINES))
        raise UnreadableFile(f"Unknown file type (allowed: {allowed}).")
    with _open(path) as file:
        encoding = reading.encoding or encoding_of(file.read(3))
        encodings = [encoding]
        if is_csv and encoding == "utf-8" and not reading.encoding:
            encodings.append(WINDOWS_ENCODING)
        for encoding in encodings:
            file.seek(0)
            # In JSON, a carriage return is white space and does not end a line.
            text = TextIOWrapper(file, encoding=encoding, newline="" if is_csv else "\n")
            try:
                purchases = _purchases(text, reading, encoding, is_csv=is_csv)
            except _WrongEncoding:
                text.detach()
                continue
            if not purchases.total:
                raise UnreadableFile("Contains no purchase.")
            yield purchases
            return
        raise UnreadableFile(f"Not in the encoding {encodings[0]}. Add --encoding.")


class _WrongEncoding(Exception):
    """The first reading of a file found bytes that the encoding does not have."""


def _purchases(text: TextIO, reading: Reading, encoding: str, *, is_csv: bool) -> PurchaseFile:
    try:
        if not is_csv:
            total = sum(1 for _ in _json_lines(text, reading))
            text.seek(0)
            return PurchaseFile(total, _json_lines(text, reading), encoding)
        total, orders = 0, DateOrders()
        for line in _csv(text, {}, reading):
            total += 1
            if isinstance(line.definition, dict):
                for column in _DATES:
                    if isinstance(cell := line.definition.get(column), str):
                        orders.add(column, cell)
        text.seek(0)
        return PurchaseFile(total, _csv(text, orders.chosen(reading.dates), reading), encoding)
    except (UnicodeDecodeError, UnicodeError):
        raise _WrongEncoding from None
    except AmbiguousDates as error:
        raise UnreadableFile(str(error)) from None


def _open(path: Path) -> IO[bytes]:
    try:
        return _copy_of_input() if path == STANDARD_INPUT else path.open("rb")
    except OSError as error:
        raise UnreadableFile(f"Cannot read the file: {error.strerror}.") from None


def _copy_of_input() -> IO[bytes]:
    """Copy standard input to a temporary file, because standard input can be read only once."""
    copy = TemporaryFile()  # noqa: SIM115 - the caller closes the file
    copyfileobj(sys.stdin.buffer, copy)
    copy.seek(0)
    return copy


def _csv(text: TextIO, orders: Mapping[str, DateOrder], reading: Reading) -> Iterator[PurchaseLine]:
    first_line = text.readline()
    # Excel writes and reads such a line.
    skipped = 1 if first_line.lower().startswith("sep=") else 0
    if skipped:
        first_line = text.readline()
    text.seek(0)
    for _ in range(skipped):
        text.readline()
    reader = csv.reader(text, delimiter=separator_of(first_line), strict=True)
    try:
        columns = next(reader, [])
        if not any(columns):
            raise UnreadableFile("The first line must contain the column names.")
        if errors := column_errors(columns, "store") or missing_columns(columns):
            raise UnreadableFile(" ".join(errors))
        last = reader.line_num
        for cells in reader:
            number, last = last + 1 + skipped, reader.line_num
            if not any(cells):
                continue
            if len(cells) != len(columns):
                yield PurchaseLine(
                    number, error=f"Must have {len(columns)} cells, has {len(cells)}."
                )
                continue
            by_column = dict(zip(columns, cells, strict=True))
            row = purchase_of_row(by_column)
            for column, order in orders.items():
                if isinstance(cell := row.get(column), str):
                    row[column] = iso_date(cell, order, reading.zone)
            error = _find_store(row, reading)
            yield PurchaseLine(number, with_offsets(row, reading.zone), error, by_column)
    except csv.Error as error:
        yield PurchaseLine(
            reader.line_num + skipped,
            error=f"Invalid CSV. The rest of the file is not read: {error}.",
        )


def _find_store(row: dict[str, Any], reading: Reading) -> str:
    """Replace `store`, a key or a name, with `storeId`. Return the error, or ``""``."""
    name = row.pop("store", None)
    if name is None:
        return ""
    if not isinstance(name, str):
        return "store must be a string."
    if "storeId" in row:
        return "Set either storeId or store, not both."
    row["storeId"] = reading.stores.get(name.casefold())
    if row["storeId"]:
        return ""
    several = name.casefold() in reading.stores
    return f"{'Several stores are' if several else 'No store is'} called {name!r}. Use storeId."


def _json_lines(text: TextIO, reading: Reading) -> Iterator[PurchaseLine]:
    for number, content, error in json_lines(text):
        if isinstance(content, dict):
            error = _find_store(content, reading)
        yield PurchaseLine(number, with_offsets(content, reading.zone), error)


_DATES: Final = ("date", "startDate", "endDate")
_JSON_LINES: Final = (".jsonl", ".ndjson")
