"""Measure how many overdue records per second the sweeper requeues."""

import json
from statistics import median
from typing import Final

from benchmarks.processes import run
from benchmarks.report import Section, Table

RECORDS: Final = 4_000
ADDED_MS: Final = 5.0
ROUNDS: Final = 3


def measure(records: int = RECORDS, rounds: int = ROUNDS) -> Section:
    """Measure how fast the sweeper requeues the overdue feedback records of one account."""
    samples = [
        json.loads(run("-m", "benchmarks.sweep_process", str(records), str(ADDED_MS)))
        for _ in range(rounds)
    ]
    rate = median(records / seconds for seconds, _ in samples)
    cpu_us = median(cpu_s / records * 1e6 for _, cpu_s in samples)
    return Section(
        "Sweeper",
        [
            f"{records:,} overdue feedback records of one account: medians of {rounds} rounds."
            " The sweeper lists 100 records per request, reads and reschedules 20 records per"
            f" request, and queues ten per request. Recorded responses, after {ADDED_MS:g} ms each,"
            " replace DynamoDB and SQS.",
            Table(
                ("", "records per second", "CPU per record, µs"),
                [("this service", f"{rate:.0f}", f"{cpu_us:.0f}")],
            ),
        ],
    )
