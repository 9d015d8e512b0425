"""Read purchases line by line from a CSV or JSON Lines file. An invalid line does not end the file.

The columns of a CSV file are described in `admin.definitions.purchase_row`.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any, Final, TextIO

from admin.definitions.definition import Kind
from admin.definitions.purchase_row import purchase_of_row

STANDARD_INPUT: Final = Path("-")


@dataclass(frozen=True)
class PurchaseLine:
    """The definition of a purchase, or the error of its line.

    Attributes:
        number: the number of the line, from 1. For a CSV row with line breaks, the number of the
            first line of the row.
        error: why the line cannot be read; ``""`` if the line is readable.
    """

    number: int
    definition: Any = None
    error: str = ""


class UnreadableFile(Exception):
    """The file cannot be read. The message states the reason in one sentence."""


@dataclass(frozen=True)
class PurchaseFile:
    """An open file of purchases.

    Attributes:
        total: the number of lines, without empty lines.
        lines: the lines, without empty lines. They are read while the caller iterates.
    """

    total: int
    lines: Iterator[PurchaseLine]


@contextmanager
def open_purchases(path: Path) -> Iterator[PurchaseFile]:
    """Open a file of purchases. The file is read twice, so that a large file needs little memory.

    If the path is ``-``, read JSON lines from standard input.

    Raises:
        UnreadableFile: the file type is unknown, or the file is not UTF-8.
    """
    read = _json_lines if path == STANDARD_INPUT else _READERS.get(path.suffix.lower())
    if read is None:
        raise UnreadableFile(f"Unknown file type (allowed: {', '.join(_READERS)}).")
    # In JSON, a carriage return is white space and does not end a line.
    with _open(path, newline="" if read is _csv else "\n") as text:
        try:
            total = sum(1 for _ in read(text))
        except UnicodeDecodeError:
            raise UnreadableFile("Invalid UTF-8.") from None
        text.seek(0)
        yield PurchaseFile(total, read(text))


def _open(path: Path, newline: str) -> TextIO:
    try:
        return TextIOWrapper(
            _copy_of_input() if path == STANDARD_INPUT else path.open("rb"),
            encoding="utf-8-sig",
            newline=newline,
        )
    except OSError as error:
        raise UnreadableFile(f"Cannot read the file: {error.strerror}.") from None


def _copy_of_input() -> IO[bytes]:
    """Copy standard input to a temporary file, because standard input can be read only once."""
    copy = TemporaryFile()  # noqa: SIM115 - the caller closes the file
    copyfileobj(sys.stdin.buffer, copy)
    copy.seek(0)
    return copy


def _csv(text: TextIO) -> Iterator[PurchaseLine]:
    reader = csv.reader(text, strict=True)
    try:
        columns = next(reader, [])
        last = reader.line_num
        for cells in reader:
            number, last = last + 1, reader.line_num
            if not cells:
                continue
            if len(cells) != len(columns):
                yield PurchaseLine(
                    number, error=f"Must have {len(columns)} cells, has {len(cells)}."
                )
                continue
            row = purchase_of_row(dict(zip(columns, cells, strict=True)))
            yield PurchaseLine(number, _without_kind(row))
    except csv.Error as error:
        yield PurchaseLine(
            reader.line_num, error=f"Invalid CSV. The rest of the file is not read: {error}."
        )


def _json_lines(text: TextIO) -> Iterator[PurchaseLine]:
    for number, line in enumerate(text, start=1):
        if not line.strip():
            continue
        try:
            yield PurchaseLine(number, _without_kind(json.loads(line)))
        except json.JSONDecodeError as error:
            yield PurchaseLine(number, error=f"Invalid JSON: {error.msg}.")
        except ValueError:
            yield PurchaseLine(number, error="Contains a number with too many digits.")
        except RecursionError:
            yield PurchaseLine(number, error="Nested too deeply.")


def _without_kind(definition: Any) -> Any:
    """Return the definition without its kind. In a file of purchases, the kind is optional."""
    if isinstance(definition, dict) and definition.get("kind") == Kind.PURCHASE:
        return {name: value for name, value in definition.items() if name != "kind"}
    return definition


_READERS: Final[dict[str, Callable[[TextIO], Iterator[PurchaseLine]]]] = {
    ".csv": _csv,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
}
