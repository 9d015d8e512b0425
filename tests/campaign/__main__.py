"""Run the campaigns of many seeds in several processes, and print their numbers.

Usage: ``python -m tests.campaign SEEDS [FIRST_SEED]``. Set ``PYTHONHASHSEED`` to repeat a campaign
exactly.
"""

import os
import sys
from collections import Counter
from dataclasses import fields
from multiprocessing import Pool

import tests.conftest  # noqa: F401 - sets the environment before the project is imported
from tests.campaign.campaign import Report, run
from tests.campaign.simulation import Rates, without_log


def report_of(seed: int) -> Report:
    """Run the campaign of a seed without log."""
    with without_log():
        return run(seed)


def main(seeds: int, first_seed: int = 0) -> int:
    """Run the campaigns, print the numbers, and return the number of seeds with violations."""
    faults: Counter[str] = Counter()
    done: Counter[str] = Counter()
    requests = swept = failed = 0
    with Pool(min(seeds, os.cpu_count() or 1)) as pool:
        for report in pool.imap(report_of, range(first_seed, first_seed + seeds)):
            requests, swept = requests + report.requests, swept + report.swept
            faults, done = faults + report.faults, done + report.done
            failed += bool(report.violations)
            for violation in sorted(set(report.violations)):
                _write(f"seed {report.seed}: {violation}")
    _write(f"{seeds} seeds, {failed} with violations")
    _write(f"{requests} AWS requests, {swept} of them by the sweeper")
    injected = [field.name for field in fields(Rates)]
    _write(f"{sum(faults[name] for name in injected)} faults, {faults['killed']} of them kills")
    for title, counts in (("Faults and errors", faults), ("Work", done)):
        _write(f"{title}:")
        for name, count in sorted(counts.items()):
            _write(f"  {count:7} {name}")
    return failed


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(min(1, main(*map(int, sys.argv[1:]))))
