"""Write results to standard output and everything else to standard error.

Results are tables and texts or, with the option ``--json``, one JSON document.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, Final

import typer
from pydantic import BaseModel
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from chalicelib.domain.schema import format_timestamp

_WIDTH_WITHOUT_TERMINAL: Final = 200
"""The width of texts, and of each column of a table, if standard output is not a terminal."""

_VISIBLE_CONTROLS: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
} | {
    code: f"\\u{code:04x}"
    for code in (
        *(0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),
        *range(0xD800, 0xE000),
    )
}
"""Escape sequences for control characters, line separators, text direction characters and lone
surrogates, by code point.
"""


_JSON_ESCAPES: Final = {code: f"\\u{code:04x}" for code in _VISIBLE_CONTROLS if code > 0x1F}

_prints_json = False
_prints_wide = False


def set_json_output(is_json: bool) -> None:
    """Print the results of this run as JSON, or as tables and texts."""
    global _prints_json
    _prints_json = is_json


def set_wide_output(is_wide: bool) -> None:
    """Print all columns of the tables of this run, in tables of any width."""
    global _prints_wide
    _prints_wide = is_wide


def prints_json() -> bool:
    """Return whether results are printed as JSON."""
    return _prints_json


class _PlainConsole(Console):
    """A console that prints text unchanged, without markup, and escapes control characters.

    Text from receivers and customers must not control the operator's terminal.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, soft_wrap=True, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Escape the control characters of the text and render it."""
        return super().render_str(_escaped(text), **options)


def _escaped(text: str) -> str:
    return text.translate(_VISIBLE_CONTROLS)


def results() -> Console:
    """Return a console that writes plain text to standard output."""
    width = None if sys.stdout.isatty() else _WIDTH_WITHOUT_TERMINAL
    return _PlainConsole(width=width)


def notices() -> Console:
    """Return a console that writes plain text to standard error."""
    return _PlainConsole(stderr=True)


def show_table(
    columns: list[str], rows: Sequence[Sequence[object]], wide: Collection[str] = ()
) -> None:
    """Print a table to standard output that fits the terminal. Never split an id or another word.

    If the words of a row do not fit next to each other, the first cell of each row is on a line of
    its own. If standard output is not a terminal and the environment variable COLUMNS is not set,
    the table is as wide as necessary, so that programs find each row on one line.

    With ``--json``, print a list of objects. Their field names are the column titles in camelCase.

    Args:
        wide: the columns that only ``--wide`` and ``--json`` show.
    """
    if _prints_json:
        names = [json_name(column) for column in columns]
        show_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    shown = [number for number, name in enumerate(columns) if _prints_wide or name not in wide]
    titles = [columns[number] for number in shown]
    cells = [[_escaped(cell_text(row[number])) for number in shown] for row in rows]
    console = results()
    limit = _width_limit(console)
    widths = [max(map(cell_len, column)) for column in zip(titles, *cells, strict=True)]
    least = [
        max(cell_len(word) for cell in column for word in cell.split() or [""])
        for column in zip(titles, *cells, strict=True)
    ]
    if limit is None or _table_width(least) <= limit:
        _print_table(console, titles, cells, _narrowed(widths, least, limit))
    else:
        _print_stacked(console, titles, cells, limit)


_GAP: Final = "  "


def _width_limit(console: Console) -> int | None:
    """Return the number of columns of the terminal, or None if the width is not limited."""
    if _prints_wide:
        return None
    if sys.stdout.isatty():
        return console.width
    text = os.environ.get("COLUMNS", "")
    return int(text) if text.isascii() and text.isdigit() and int(text) else None


def _table_width(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _narrowed(widths: Sequence[int], least: Sequence[int], limit: int | None) -> list[int]:
    """Return the widths of columns within the limit. The widest column becomes narrower first."""
    narrowed = [
        max(minimum, min(width, _WIDTH_WITHOUT_TERMINAL))
        for width, minimum in zip(widths, least, strict=True)
    ]
    while limit is not None and _table_width(narrowed) > limit:
        reducible = [n for n, minimum in enumerate(least) if narrowed[n] > minimum]
        narrowed[max(reducible, key=lambda n: narrowed[n])] -= 1
    return narrowed


def _print_table(
    console: Console, titles: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]
) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, width in zip(titles, widths, strict=True):
        table.add_column(title, overflow="fold", width=width)
    for row in rows:
        table.add_row(*row)
    console.width = _table_width(widths) + len(_GAP)  # Rich counts the padding of both edges.
    console.print(table, soft_wrap=False)


def _print_stacked(
    console: Console, titles: Sequence[str], rows: Sequence[Sequence[str]], limit: int
) -> None:
    """Print the first cell of each row on a line of its own, above the other cells."""
    widths = [
        min(max(map(cell_len, column)), limit // 3)
        for column in zip(titles[1:], *(row[1:] for row in rows), strict=True)
    ]
    for first, *others in (titles, *rows):
        console.print(first, style="bold" if first is titles[0] else None)
        line = _GAP
        for cell, width in zip(others, widths, strict=True):
            for word in [cell] if cell_len(cell) <= width else cell.split():
                if len(line) > len(_GAP) and cell_len(line) + cell_len(word) > limit:
                    console.print(line.rstrip())
                    line = _GAP * 2
                line += f"{word} "
            line += " " * (1 + max(0, width - cell_len(cell)))
        console.print(line.rstrip())


def show_record(record: object, text: str | None = None) -> None:
    """Print the text to standard output or, with ``--json``, the record."""
    if _prints_json:
        show_json(record)
    elif text is not None:
        results().print(text)


def show_json(value: object, *, indent: int | None = 2) -> None:
    """Print a value as JSON to standard output, with escaped control characters.

    The field names of dataclasses are converted to camelCase, as in the HTTP API.

    Args:
        indent: the indentation of nested values. None to print one line.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_json_value)
    sys.stdout.write(text.translate(_JSON_ESCAPES) + "\n")


def cell_text(value: object) -> str:
    """Return the text of a table cell."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return format_timestamp(value)
        case list() | tuple():
            return ", ".join(map(cell_text, value))
        case Mapping():
            return json.dumps(value, ensure_ascii=False, default=_json_value)
    return str(value)


def _json_value(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if is_dataclass(value):
        return {json_name(field.name): getattr(value, field.name) for field in fields(value)}
    return format_timestamp(value) if isinstance(value, datetime) else str(value)


def json_name(name: str) -> str:
    """Convert a title or the name of an attribute to camelCase: ``phoneNumber``."""
    words: list[str] = re.findall(r"[^\W_]+", name.lower().replace("e-mail", "email"))
    return words[0] + "".join(map(str.capitalize, words[1:]))


def can_ask() -> bool:
    """Return whether the operator can be asked: standard input is a terminal."""
    return sys.stdin.isatty()


def confirm(question: Callable[[], str], *, is_confirmed: bool) -> None:
    """Ask the operator to confirm an operation that cannot be undone.

    Args:
        question: returns the question, which describes the affected record. It is called only if
            the operator is asked, because it can send AWS requests.

    Raises:
        Abort: the operator does not confirm.
        UsageError: the operator cannot be asked, because standard input is not a terminal.
    """
    if is_confirmed:
        return
    if not can_ask():
        raise typer.BadParameter("Add --yes to confirm the operation.", param_hint="--yes")
    typer.confirm(_escaped(question()), abort=True, err=True)


def confirm_by_typing(expected: str, question: str, *, typed: str | None) -> None:
    """Ask the operator to type a text, to confirm an operation that affects much.

    Args:
        typed: the text from the command line; None to ask.

    Raises:
        BadParameter: the text differs, or the operator cannot be asked.
    """
    if typed is None and can_ask():
        typed = typer.prompt(_escaped(question), err=True)
    if typed != expected:
        raise typer.BadParameter(f"Must be {expected!r}.", param_hint="--confirm")


@contextmanager
def progress(description: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show the number of processed records, and their total, if standard error is a terminal.

    Yield a function that increases the number by its argument, by default by 1. Its second argument
    sets a total that was not known before.
    """
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    is_disabled = not sys.stderr.isatty()
    with Progress(
        *columns, TimeElapsedColumn(), console=notices(), transient=True, disable=is_disabled
    ) as bar:
        task = bar.add_task(description, total=total)
        yield lambda count=1, total=None: bar.update(task, advance=count, total=total)
