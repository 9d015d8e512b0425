"""Benchmark reports: sections of text and tables, formatted as Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table of measurements. The first column contains labels; the others contain numbers.

    Attributes:
        columns: the format of the numbers of each column, by heading. Texts are not formatted, and
            None is an empty cell.
    """

    columns: Mapping[str, str]
    rows: Iterable[Sequence[Any]]

    def markdown(self) -> str:
        """Return the table as Markdown with right-aligned numbers."""
        cells = [
            [
                cell if isinstance(cell, str) else "" if cell is None else format(cell, number)
                for number, cell in zip(self.columns.values(), row, strict=True)
            ]
            for row in self.rows
        ]
        separator = ["---", *["---:"] * (len(self.columns) - 1)]
        return "\n".join(f"| {' | '.join(line)} |" for line in (self.columns, separator, *cells))


@dataclass(frozen=True)
class Section:
    """The results of one benchmark.

    Attributes:
        parts: the paragraphs and tables, in the order in which they appear.
        failures: descriptions of the exceeded limits. If there are any, the benchmark fails.
    """

    title: str
    parts: Sequence[str | Table]
    failures: Sequence[str] = ()

    def markdown(self) -> str:
        """Return the section as Markdown."""
        parts = [part if isinstance(part, str) else part.markdown() for part in self.parts]
        if self.failures:
            parts.append(f"Exceeded limits: {'; '.join(self.failures)}.")
        return "\n\n".join([f"## {self.title}", *parts])


def met(targets: Mapping[str, bool]) -> str:
    """Return which targets are met and which are missed."""
    return "; ".join(
        f"{text} ({'met' if is_met else 'missed'})" for text, is_met in targets.items()
    )


def document(sections: Sequence[Section], machine: str, day: date) -> str:
    """Return the complete report as Markdown."""
    introduction = (
        "# Performance\n\n"
        f"Written by `make bench` on {day.isoformat()}: {machine}. Compare the ratios and the"
        " counts; the times depend on the machine."
    )
    return "\n\n".join([introduction, *(section.markdown() for section in sections)]) + "\n"
