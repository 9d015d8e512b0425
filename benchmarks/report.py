"""A report of sections with text and tables, as Markdown and on the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as PrintedTable


@dataclass(frozen=True)
class Table:
    """Figures. The first column names the row; the others contain numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Return the table in Markdown with numbers aligned to the right."""
        ruler = ["---", *["---:"] * (len(self.columns) - 1)]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in (self.columns, ruler, *self.rows))

    def printed(self) -> PrintedTable:
        """Return the table for a terminal."""
        table = PrintedTable()
        for place, column in enumerate(self.columns):
            table.add_column(column, justify="right" if place else "left")
        for row in self.rows:
            table.add_row(*row)
        return table


@dataclass(frozen=True)
class Section:
    """One measured subject.

    Attributes:
        parts: paragraphs and tables in reading order.
    """

    title: str
    parts: Sequence[str | Table]

    def markdown(self) -> str:
        """Return the section in Markdown."""
        parts = (part if isinstance(part, str) else part.markdown() for part in self.parts)
        return "\n\n".join([f"## {self.title}", *parts])

    def print(self, console: Console) -> None:
        """Print the section on a terminal."""
        console.rule(self.title)
        for part in self.parts:
            shown = part.replace("`", "") if isinstance(part, str) else part.printed()
            console.print(Padding(shown, (0, 0, 1, 0)))


def document(sections: Sequence[Section], machine: str, day: date) -> str:
    """Return the whole report in Markdown."""
    top = (
        "# Performance\n\n"
        f"Written by `make bench` on {day.isoformat()}: {machine}. Compare the ratios and the"
        " counts; the times depend on the machine."
    )
    return "\n\n".join([top, *(section.markdown() for section in sections)]) + "\n"
