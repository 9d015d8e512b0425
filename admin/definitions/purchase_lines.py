"""Read purchases line by line from a CSV or JSON Lines file. An invalid line does not end the file.

The columns of a CSV file are described in `admin.definitions.purchase_row`.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

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


def read_purchase_lines(path: Path) -> list[PurchaseLine]:
    """Return the lines of the file, without empty lines.

    If the path is ``-``, read JSON lines from standard input.

    Raises:
        UnreadableFile: the file type is unknown, or the file is not UTF-8.
    """
    is_input = path == STANDARD_INPUT
    read = _json_lines if is_input else _READERS.get(path.suffix.lower())
    if read is None:
        raise UnreadableFile(f"Unknown file type (allowed: {', '.join(_READERS)}).")
    try:
        content = sys.stdin.buffer.read() if is_input else path.read_bytes()
        return list(read(content.decode("utf-8-sig")))
    except UnicodeDecodeError:
        raise UnreadableFile("Invalid UTF-8.") from None
    except OSError as error:
        raise UnreadableFile(f"Cannot read the file: {error.strerror}.") from None


def _csv(text: str) -> Iterator[PurchaseLine]:
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
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


def _json_lines(text: str) -> Iterator[PurchaseLine]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield PurchaseLine(number, _without_kind(json.loads(line)))
        except json.JSONDecodeError as error:
            yield PurchaseLine(number, error=f"Invalid JSON: {error.msg}.")
        except RecursionError:
            yield PurchaseLine(number, error="Nested too deeply.")


def _without_kind(definition: Any) -> Any:
    """Return the definition without its kind. In a file of purchases, the kind is optional."""
    if isinstance(definition, dict) and definition.get("kind") == Kind.PURCHASE:
        return {name: value for name, value in definition.items() if name != "kind"}
    return definition


_READERS: Final[dict[str, Callable[[str], Iterator[PurchaseLine]]]] = {
    ".csv": _csv,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
}
