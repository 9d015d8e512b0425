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
from datetime import UTC, datetime, tzinfo
from operator import itemgetter
from typing import Any, Final

import typer
from pydantic import BaseModel
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from chalicelib.domain.schema import format_timestamp

_UNLIMITED: Final = 1_000_000

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

_MIN_TEXT: Final = 8
"""The least width of a column that is cut."""
_CUT: Final = re.compile(r"(?!\d{4}-\d\d-\d\d \d\d:\d\d$)(.* |(?![0-9a-f-]+$)\S{37})")
"""Texts that can be cut: several words that are no time, or a word that is longer than an id, such
as a URL."""

_prints_json = False
_prints_wide = False
_time_zone: Callable[[], tzinfo] | None = None
_shown_zone: tzinfo | None = None


def set_json_output(is_json: bool) -> None:
    """Print the results of this run as JSON, or as tables and texts."""
    global _prints_json
    _prints_json = is_json


def set_wide_output(is_wide: bool) -> None:
    """Print all columns of the tables of this run, in tables of any width."""
    global _prints_wide
    _prints_wide = is_wide


def set_time_zone(zone: Callable[[], tzinfo] | None) -> None:
    """Show and read the times of this run in a zone, which is looked up for the first time.

    Without a zone, times are in UTC.
    """
    global _time_zone, _shown_zone
    _time_zone, _shown_zone = zone, None


def name_time_zone() -> None:
    """Print the zone of the times that this run has shown or read, if there are any."""
    if _shown_zone:
        notices().print(f"Times are in {_shown_zone}.")


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
    is_limited = not _prints_wide and (sys.stdout.isatty() or os.environ.get("COLUMNS"))
    return _PlainConsole(width=None if is_limited else _UNLIMITED)


def notices() -> Console:
    """Return a console that writes plain text to standard error."""
    return _PlainConsole(stderr=True)


def show_table(
    columns: list[str],
    rows: Sequence[Sequence[object]],
    wide: Collection[str] = (),
    *,
    wraps: bool = False,
) -> None:
    """Print a table to standard output that fits the terminal, with one line for each row.

    Texts that do not fit are cut. An id is never cut: if the ids of a row do not fit next to each
    other, each cell is on a line of its own, after the title of its column. If standard output is
    not a terminal and the environment variable COLUMNS is not set, the width is not limited, so
    that programs find complete rows.

    With ``--json``, print a list of objects. Their field names are the column titles in camelCase.

    Args:
        wide: the columns that only ``--wide`` and ``--json`` show.
        wraps: whether texts that do not fit continue on further lines.
    """
    if _prints_json:
        names = [json_name(column) for column in columns]
        show_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    shown = [number for number, name in enumerate(columns) if _prints_wide or name not in wide]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number in shown:
        table.add_column(columns[number], overflow="fold" if wraps else "ellipsis")
    for row in rows:
        table.add_row(*(cell_text(row[number]) for number in shown))
    console = results()
    needed = console.measure(table, options=console.options.update(width=_UNLIMITED)).maximum
    if _narrow(table, needed - console.width, wraps=wraps):
        _print_table(table)
        return
    for row in rows:
        show_properties({columns[number]: row[number] for number in shown})
        console.print()


def _narrow(table: Table, excess: int, *, wraps: bool) -> bool:
    """Set the widths of the columns, of texts less than they need. Return whether they fit."""
    texts = []
    for column in table.columns:
        cells = [_escaped(str(cell)) for cell in (column.header, *column.cells)]
        words = [cell_len(word) for cell in cells for word in cell.split()]
        column.width = max(cell_len(line) for cell in cells for line in cell.split("\n"))
        column.no_wrap = not wraps
        if any(_CUT.match(cell) for cell in cells[1:]):
            least = max(words) if wraps else max(cell_len(cells[0]), _MIN_TEXT)
            texts.append((max(column.width - least, 0), column))
    spare = sum(slack for slack, _ in texts) - max(excess, 0)
    texts.sort(key=itemgetter(0))
    for number, (slack, column) in enumerate(texts):
        kept = min(slack, max(spare, 0) // (len(texts) - number))
        column.width = (column.width or 0) - slack + kept
        spare -= kept
    return spare >= 0


def _print_table(table: Table) -> None:
    """Print a table without the blanks at the ends of its lines."""
    console = results()
    with console.capture() as captured:
        console.print(table, soft_wrap=False)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().split("\n")[:-1]))


def show_properties(properties: Mapping[str, object]) -> None:
    """Print the name and the value of each property on a line."""
    table = Table.grid(padding=(0, 2))
    for name, value in properties.items():
        table.add_row(name, Text(_escaped(cell_text(value)), overflow="fold"))
    _print_table(table)


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
    """Return the text of a table cell. Times are in the zone of this run, with ``--json`` exact."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime() if _prints_json:
            return format_timestamp(value)
        case datetime():
            return f"{value.astimezone(time_zone()):%Y-%m-%d %H:%M}"
        case list() | tuple():
            return ", ".join(map(cell_text, value))
        case Mapping():
            return json.dumps(value, ensure_ascii=False, default=_json_value)
    return str(value)


def day(time: datetime) -> str:
    """Return the date of a time in the zone of this run."""
    return f"{time.astimezone(time_zone()):%Y-%m-%d}"


def time_zone() -> tzinfo:
    """Return the zone in which this run shows times, and reads times without an offset."""
    global _shown_zone
    if _shown_zone is None:
        _shown_zone = _time_zone() if _time_zone else UTC
    return _shown_zone


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
