"""Run the benchmarks, print the report and write it to a Markdown file."""

import argparse
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markdown import Markdown

from benchmarks.processes import child_process, measure, stop_children_on_signals
from benchmarks.report import document

_WIDTH: Final = 110
_REPORT: Final = Path(__file__).parent.parent / "docs" / "performance.md"
_MODULES: Final = {
    "cold": "cold_start",
    "requests": "request_cost",
    "abuse": "abuse_cost",
    "deliveries": "delivery_cost",
    "sweep": "sweep_cost",
    "creates": "create_cost",
    "batches": "batch_cost",
    "ceilings": "ceilings",
    "page-load": "page_load",
    "feedback": "feedback_cost",
}
"""The module of each benchmark. Its function ``measure`` returns a section of the report."""


def main() -> None:
    """Run the requested benchmarks, print each section, and write the complete report to a file.

    Exit with status 1 if a benchmark exceeds its limits.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=_MODULES, help="print only this benchmark")
    only = parser.parse_args().only
    stop_children_on_signals()
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    sections = []
    for name in [only] if only else _MODULES:
        with console.status(f"Measuring {name} …"), child_process() as process:
            section = process.submit(measure, _MODULES[name]).result()
        console.print(Markdown(section.markdown()))
        sections.append(section)
    if not only:
        machine = (
            f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
        )
        _REPORT.write_text(document(sections, machine, datetime.now(UTC).date()))
        console.print(f"Written to {_REPORT}.")
    failures = [failure for section in sections for failure in section.failures]
    for failure in failures:
        console.print(f"Limit exceeded: {failure}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
