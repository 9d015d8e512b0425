"""Run the benchmarks, print the report and write it to a Markdown file."""

import argparse
import os
import platform
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from rich.console import Console

from benchmarks import (
    abuse_cost,
    batch_cost,
    ceilings,
    create_cost,
    delivery_cost,
    dispatch_cost,
    feedback_cost,
    feedback_rate,
    import_time,
    page_cost,
    page_load,
    public_cost,
    request_cost,
    sweep_cost,
)
from benchmarks.processes import PROJECT
from benchmarks.report import Section, document

_WIDTH: Final = 110


def main() -> None:
    """Run the requested benchmarks, print each section, and write the complete report to a file.

    Exit with status 1 if a benchmark exceeds its limits.
    """
    options = _parser().parse_args()
    # On SIGTERM, exit normally so that the child processes of the benchmarks are stopped.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    # The benchmarks from "batches" on connect this process to a local cloud. They run last, because
    # the connection could affect other benchmarks.
    measurements: dict[str, Callable[[], Section]] = {
        "requests": request_cost.measure,
        "public": public_cost.measure,
        "abuse": abuse_cost.measure,
        "deliveries": delivery_cost.measure,
        "sweep": sweep_cost.measure,
        "creates": create_cost.measure,
        "feedback-rate": feedback_rate.measure,
        "imports": import_time.measure,
        "batches": batch_cost.measure,
        "ceilings": ceilings.measure,
        "dispatch": dispatch_cost.measure,
        "pages": partial(page_cost.measure, options.customers),
        "page-load": page_load.measure,
        "feedback": partial(feedback_cost.measure, options.feedback),
    }
    sections = []
    for name in [options.only] if options.only else measurements:
        with console.status(f"Measuring {name} …"):
            section = measurements[name]()
        section.print(console)
        sections.append(section)
    output = options.output or (None if options.only else PROJECT / "docs" / "performance.md")
    if output:
        output.write_text(document(sections, _machine(), datetime.now(UTC).date()))
        console.print(f"Written to {output}.")
    failures = [failure for section in sections for failure in section.failures]
    for failure in failures:
        console.print(f"Limit exceeded: {failure}")
    sys.exit(1 if failures else 0)


def _machine() -> str:
    return f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        choices=(
            "requests",
            "public",
            "abuse",
            "deliveries",
            "sweep",
            "creates",
            "feedback-rate",
            "imports",
            "batches",
            "ceilings",
            "dispatch",
            "pages",
            "page-load",
            "feedback",
        ),
        help="run only this benchmark (default: all)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="file to write the report to (default: docs/performance.md; with --only, no file)",
    )
    parser.add_argument(
        "--customers",
        type=int,
        default=page_cost.CUSTOMERS,
        help="number of customers in the long list of `pages` (default: %(default)s)",
    )
    parser.add_argument(
        "--feedback",
        type=int,
        default=feedback_cost.FEEDBACK,
        help="number of feedback records of `feedback` (default: %(default)s)",
    )
    return parser


if __name__ == "__main__":
    main()
