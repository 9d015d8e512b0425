"""Write results to standard output and everything else to standard error.

Results are tables and texts or, with the option ``--json``, one JSON document.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, Final

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
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


def set_json_output(is_json: bool) -> None:
    """Print the results of this run as JSON, or as tables and texts."""
    global _prints_json
    _prints_json = is_json


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
        return super().render_str(text.translate(_VISIBLE_CONTROLS), **options)


def results() -> Console:
    """Return a console that writes plain text to standard output."""
    width = None if sys.stdout.isatty() else _WIDTH_WITHOUT_TERMINAL
    return _PlainConsole(width=width)


def notices() -> Console:
    """Return a console that writes plain text to standard error."""
    return _PlainConsole(stderr=True)


def show_table(columns: list[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table to standard output. Wrap long cells instead of truncating them.

    If standard output is not a terminal, the table is as wide as necessary, so that programs find
    each id on one line.

    With ``--json``, print a list of objects. Their field names are the column titles in camelCase.
    """
    if _prints_json:
        names = [json_name(column) for column in columns]
        show_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold", max_width=_WIDTH_WITHOUT_TERMINAL)
    for row in rows:
        table.add_row(*map(cell_text, row))
    console = results()
    if not sys.stdout.isatty():
        console.width = len(columns) * (_WIDTH_WITHOUT_TERMINAL + 2)
        console.width = console.measure(table).maximum
    console.print(table, soft_wrap=False)


def show_record(record: Mapping[str, object], text: str | None = None) -> None:
    """Print the text to standard output or, with ``--json``, the record."""
    if _prints_json:
        show_json(record)
    elif text is not None:
        results().print(text)


def show_json(value: object) -> None:
    """Print a value as JSON to standard output, with escaped control characters.

    The field names of dataclasses are converted to camelCase, as in the HTTP API.
    """
    _print_json(value, indent=2)


def show_json_line(value: object) -> None:
    """Print a value as one line of JSON to standard output; see `show_json`."""
    _print_json(value, indent=None)


def _print_json(value: object, *, indent: int | None) -> None:
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
    typer.confirm(question().translate(_VISIBLE_CONTROLS), abort=True, err=True)


@contextmanager
def counter(description: str) -> Iterator[Callable[[int], None]]:
    """Show the number of processed records if standard error is a terminal.

    Yield a function that increases the number.
    """
    with _progress(TextColumn("{task.description}"), MofNCompleteColumn()) as bar:
        task = bar.add_task(description, total=None)
        yield lambda count: bar.advance(task, count)


@contextmanager
def progress_bar(description: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar with a known total if standard error is a terminal.

    Yield a function that advances the bar by one step.
    """
    with progress_total(description) as advance:
        yield lambda: advance(1, total)


@contextmanager
def progress_total(description: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar if standard error is a terminal.

    Yield a function that advances the bar by a number of steps and sets the total.
    """
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with _progress(*columns) as bar:
        task = bar.add_task(description, total=None)
        yield lambda count, total: bar.update(task, advance=count, total=total)


def _progress(*columns: ProgressColumn) -> Progress:
    is_disabled = not sys.stderr.isatty()
    return Progress(
        *columns, TimeElapsedColumn(), console=notices(), transient=True, disable=is_disabled
    )
