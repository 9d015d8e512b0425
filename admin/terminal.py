"""Where the command line writes: results to standard output, everything else to standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

_WIDTH_OF_NO_TERMINAL: Final = 200


def results() -> Console:
    """Standard output, in plain text: what is shown may hold square brackets of its own."""
    width = None if sys.stdout.isatty() else _WIDTH_OF_NO_TERMINAL
    return Console(markup=False, highlight=False, soft_wrap=True, width=width)


def notices() -> Console:
    """Standard error, in plain text."""
    return Console(stderr=True, markup=False, highlight=False, soft_wrap=True)


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
