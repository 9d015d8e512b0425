"""Measure how many overdue records per second the sweeper requeues."""

from datetime import timedelta
from statistics import median
from typing import Final

from benchmarks.measurement import measured
from benchmarks.memory_cloud import connect_to, running_cloud
from benchmarks.report import Section, Table, met
from benchmarks.sample_account import respondent_feedback
from chalicelib.concurrency import map_concurrently
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.queues import FEEDBACK
from chalicelib.services.work.kinds import kind_of_work
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import feedback

RECORDS: Final = 4_000
LATENCY_MS: Final = 5.0
ROUNDS: Final = 3
MIN_RECORDS_PER_SECOND: Final = 1_000
_THREADS: Final = 20


def measure() -> Section:
    """Measure how fast the sweeper requeues the overdue feedback records of one account."""
    with running_cloud(LATENCY_MS) as cloud:
        connect_to(cloud)
        account_id, form_id = new_id(), new_id()
        records = [respondent_feedback(account_id, form_id, number) for number in range(RECORDS)]
        map_concurrently(lambda record: feedback.create(record, None), records, _THREADS)
        rate, cpu_us = map(median, zip(*(_sweep() for _ in range(ROUNDS)), strict=True))
    targets = {
        f"at least {MIN_RECORDS_PER_SECOND:,} records a second": rate >= MIN_RECORDS_PER_SECOND
    }
    return Section(
        "Sweeper",
        [
            f"{RECORDS:,} overdue feedback records of one account: medians of {ROUNDS} rounds."
            " The sweeper lists 100 records per request, reads and reschedules 20 records per"
            f" request, and queues ten per request. Each request takes {LATENCY_MS:g} ms. Another"
            " process keeps the tables and the queues in memory and responds."
            f" Target: {met(targets)}.",
            Table(
                {"": "", "records per second": ",.0f", "CPU per record, µs": ",.0f"},
                [("this service", rate, cpu_us)],
            ),
        ],
    )


def _sweep() -> tuple[float, float]:
    """Sweep all records a day later. Return the records per second and the CPU µs per record."""
    a_day_later = clock.now() + timedelta(days=1)
    clock.now = lambda: a_day_later
    with measured() as cost:
        swept = sweep(kind_of_work(FEEDBACK))
    assert swept.records == RECORDS, swept
    return RECORDS / cost.seconds, cost.cpu_s / RECORDS * 1e6
