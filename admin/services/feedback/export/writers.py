"""Write the rows of an export to a CSV, XLSX or JSON Lines file, one at a time."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from enum import StrEnum
from io import TextIOWrapper
from typing import Any, BinaryIO, Final

from admin.services.feedback.export.columns import Cell
from chalicelib.domain.errors import Conflict

WriteRow = Callable[[Sequence[Cell]], None]

MAX_XLSX_ROWS: Final = 1_048_575
MAX_XLSX_COLUMNS: Final = 16_384
_MAX_CELL: Final = 16_000
"""Maximum number of characters in a cell. Excel allows 32,767 UTF-16 code units."""

_FIRST_EXCEL_DATE: Final = date(1900, 3, 1)
"""The first date that is written as a date cell.

Excel treats 1900 as a leap year, so the numbers by which Excel stores earlier dates are wrong.
"""

_HARMLESS: Final = re.compile(r"[+-][0-9][0-9 ().\-/]*", re.ASCII)
_SEPARATOR: Final = re.compile(r"[;\t\r\n]")
_CELL_STARTS: Final = re.compile(
    r"[;\t\r\n][\s\x00-\x20\ufeff]*+(?:(?P<formula>[=+\-@|%＝＋－＠])|(?P<quote>(?<=[;\t\r\n])['\"]))?"
)
"""A separator, the blanks after it, and the character with which the text after them is unsafe.

The pattern also matches blanks without such a character. Otherwise, the search would continue at
each separator among the blanks, and the time would grow with the square of their number.
"""
_AMBIGUOUS_ESCAPE: Final = re.compile(r"(?<=_x[0-9a-fA-F]{4}_)(?=x[0-9a-fA-F]{4}_)")
"""The position between two escape sequences that share an underscore: ``_x0041_x0042_``.

In XLSX files, ``_x0041_`` is an escape sequence for a character. XlsxWriter escapes literal text of
this form, but not the second of two sequences that overlap. The text is therefore split here.
"""

_RICH_TEXT_END: Final = re.compile(r"(?<=</r)(?=>\Z)")
"""The position before the last character of a text such as ``<r>text</r>``.

XlsxWriter writes a text of this form as XML without escaping it. The text is therefore split here.
"""


class Format(StrEnum):
    """The format of an exported file."""

    CSV = "csv"
    XLSX = "xlsx"
    JSONL = "jsonl"


class Separator(StrEnum):
    """The separator of the cells of a CSV file."""

    COMMA = "comma"
    SEMICOLON = "semicolon"
    TAB = "tab"

    @property
    def character(self) -> str:
        """The character that separates two cells."""
        return {"comma": ",", "semicolon": ";", "tab": "\t"}[self]


@contextmanager
def csv_writer(
    file: BinaryIO, titles: Sequence[str], separator: Separator = Separator.COMMA
) -> Iterator[WriteRow]:
    """Write a CSV file in UTF-8. Excel needs the byte order mark at the start of the file."""
    text = TextIOWrapper(file, encoding="utf-8-sig", newline="")
    rows = csv.writer(text, delimiter=separator.character)
    rows.writerow(map(encode_cell, titles))
    yield lambda row: rows.writerow([encode_cell(plain_text(cell)) for cell in row])
    text.flush()
    text.detach()


@contextmanager
def jsonl_writer(file: BinaryIO, titles: Sequence[str]) -> Iterator[WriteRow]:
    """Write a file with one JSON object per row. Empty cells are omitted."""

    def write(row: Sequence[Cell]) -> None:
        cells = {
            title: plain_text(cell) if isinstance(cell, date) else cell
            for title, cell in zip(titles, row, strict=True)
            if cell is not None
        }
        file.write(json.dumps(cells, ensure_ascii=False).encode() + b"\n")

    yield write


@contextmanager
def xlsx_writer(file: BinaryIO, titles: Sequence[str]) -> Iterator[WriteRow]:
    """Write an Excel workbook with typed cells and without formulas.

    If a text is too long for a cell, the cell contains only the start of the text. A second sheet
    contains the complete text in several cells.

    Raises:
        Conflict: the export has more rows, columns or pieces of long texts than a sheet can have.
    """
    if len(titles) > MAX_XLSX_COLUMNS:
        raise Conflict(f"An XLSX file has at most {MAX_XLSX_COLUMNS} columns. Use CSV or --form.")
    with _workbook(file) as book:
        sheet, pieces = book.add_worksheet("Feedback"), book.add_worksheet("Long texts")
        formats = {
            date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"}),
        }
        bold = book.add_format({"bold": True})
        for column, title in enumerate(titles):
            sheet.write_string(0, column, title, bold)
        for column, title in enumerate(("Row", "Column", "Piece")):
            pieces.write_string(0, column, title, bold)
        sheet.freeze_panes(1, 0)
        written, last_piece = 0, 0

        def write(row: Sequence[Cell]) -> None:
            nonlocal written, last_piece
            if written == MAX_XLSX_ROWS:
                raise Conflict(f"An XLSX file has at most {MAX_XLSX_ROWS} rows. Use CSV.")
            written += 1
            for column, cell in enumerate(row):
                match cell:
                    case None:
                        continue
                    case bool():
                        sheet.write_boolean(written, column, cell)
                    case int() | float():
                        sheet.write_number(written, column, cell)
                    case datetime():
                        local = cell.replace(tzinfo=None)
                        sheet.write_datetime(written, column, local, formats[datetime])
                    case date() if cell >= _FIRST_EXCEL_DATE:
                        sheet.write_datetime(written, column, cell, formats[date])
                    case _:
                        first, *others = _pieces(plain_text(cell))
                        sheet.write_string(written, column, first)
                        for piece in [first, *others] if others else []:
                            if last_piece == MAX_XLSX_ROWS:
                                raise Conflict("The XLSX file has too many long texts. Use CSV.")
                            last_piece += 1
                            pieces.write_number(last_piece, 0, written + 1)
                            pieces.write_string(last_piece, 1, titles[column])
                            pieces.write_string(last_piece, 2, piece)

        yield write


@contextmanager
def _workbook(file: BinaryIO) -> Iterator[Any]:
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import FileCreateError

    try:
        with Workbook(file, {"constant_memory": True}) as book:
            yield book
    except FileCreateError as error:
        raise error.args[0] from None  # The OSError that closing the workbook raised.


def encode_cell(text: str) -> str:
    """Return the text as a CSV cell that no spreadsheet evaluates as a formula.

    A spreadsheet evaluates a cell as a formula if the cell starts with certain characters, such as
    ``=``. Some spreadsheets also start a new cell after a semicolon, a tab or a line break in a
    text. An apostrophe at each place where a formula could start makes the spreadsheet treat the
    cell as text. Numbers and phone numbers cannot call functions or refer to other cells, so they
    stay unchanged.
    """
    if _HARMLESS.fullmatch(text):
        return text
    # The start of the text is like the position after a separator.
    return _CELL_STARTS.sub(_with_apostrophes, "\n" + text)[1:]


def _with_apostrophes(start: re.Match[str]) -> str:
    if start["formula"]:
        return _SEPARATOR.sub(r"\g<0>'", start[0])
    if start["quote"]:
        return f"{start[0][:-1]}'{start['quote']}"
    return start[0]


def join_values(values: Sequence[str]) -> str:
    """Join values with ``; ``. A backslash precedes each backslash and semicolon of a value."""
    return "; ".join(re.sub(r"([\\;])", r"\\\1", value) for value in values)


def plain_text(cell: Cell) -> str:
    """Return the text of a cell.

    Dates and times are in ISO 8601, booleans are ``true`` and ``false``. `join_values` joins the
    values of an answer. A dict of several answers becomes a JSON object.
    """
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case datetime():
            return cell.isoformat(timespec="milliseconds")
        case date():
            return cell.isoformat()
        case list():
            return join_values(cell)
        case dict():
            return json.dumps(cell, ensure_ascii=False)
    return str(cell)


def _pieces(text: str) -> list[str]:
    return [
        piece
        for part in _AMBIGUOUS_ESCAPE.split(text)
        for start in range(0, max(len(part), 1), _MAX_CELL)
        for piece in _RICH_TEXT_END.split(part[start : start + _MAX_CELL])
    ]


WRITERS: Final = {Format.CSV: csv_writer, Format.XLSX: xlsx_writer, Format.JSONL: jsonl_writer}
