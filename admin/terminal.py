"""Where the command line writes: results to standard output, everything else to standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

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

_WIDTH_OF_NO_TERMINAL: Final = 200

_VISIBLE_CONTROLS: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
} | {
    code: f"\\u{code:04x}"
    for code in (0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""Controls, and what breaks lines or turns the direction of writing round."""


class _PlainConsole(Console):
    """Shows texts as they are, brackets, colons and all, and control characters by their number.

    They may be a receiver's or a customer's, and must not give the terminal orders.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, soft_wrap=True, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """What becomes of each text, in a table too."""
        return super().render_str(text.translate(_VISIBLE_CONTROLS), **options)


def results() -> Console:
    """Standard output, in plain text."""
    width = None if sys.stdout.isatty() else _WIDTH_OF_NO_TERMINAL
    return _PlainConsole(width=width)


def notices() -> Console:
    """Standard error, in plain text."""
    return _PlainConsole(stderr=True)


def show_table(columns: list[str], rows: list[list[str]]) -> None:
    """Print a table to standard output; a long cell is folded, never cut."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    results().print(table, soft_wrap=False)


@contextmanager
def writing_progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar while the block runs, on a terminal; call what it gives after each of the steps."""
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
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
