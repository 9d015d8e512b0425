"""Write results to standard output and everything else to standard error."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]

_WIDTH_WITHOUT_TERMINAL: Final = 200

_VISIBLE_CONTROLS: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
} | {
    code: f"\\u{code:04x}"
    for code in (0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""Escape sequences for control characters, line separators and text direction characters, by code
point.
"""


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


def show_table(columns: list[str], rows: list[list[str]]) -> None:
    """Print a table to standard output. Wrap long cells instead of truncating them."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    results().print(table, soft_wrap=False)


def show_json(value: Any) -> None:
    """Print a value as JSON to standard output."""
    print(json.dumps(value, indent=2))  # noqa: T201


@contextmanager
def counter(description: str) -> Iterator[Callable[[int], None]]:
    """Show the number of processed records if standard error is a terminal.

    Yield a function that increases the number.
    """
    columns = TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=notices(), transient=True, disable=not sys.stderr.isatty())
    with bar:
        task = bar.add_task(description, total=None)
        yield lambda count: bar.advance(task, count)


@contextmanager
def progress_bar(description: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar if standard error is a terminal.

    Yield a function that advances the bar by one step.
    """
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=notices(),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task(description, total=total)
        yield lambda: bar.advance(task)
