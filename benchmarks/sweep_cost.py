"""Measure how many overdue records per second the sweeper requeues."""

from datetime import timedelta
from statistics import median
from typing import Final

from benchmarks.create_cost import respondent_feedback
from benchmarks.measurement import measured
from benchmarks.memory_cloud import connect, running_cloud
from benchmarks.report import Section, Table
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.queues import FEEDBACK
from chalicelib.services.work.kinds import kind_of_work
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import feedback

RECORDS: Final = 4_000
ADDED_MS: Final = 5.0
ROUNDS: Final = 3


def measure() -> Section:
    """Measure how fast the sweeper requeues the overdue feedback records of one account."""
    with running_cloud() as cloud:
        connect(cloud)
        _store()
        samples = [_sweep() for _ in range(ROUNDS)]
    rate, cpu_us = map(median, zip(*samples, strict=True))
    return Section(
        "Sweeper",
        [
            f"{RECORDS:,} overdue feedback records of one account: medians of {ROUNDS} rounds."
            " The sweeper lists 100 records per request, reads and reschedules 20 records per"
            f" request, and queues ten per request. Each request waits {ADDED_MS:g} ms. Another"
            " process keeps the tables and the queues in memory and responds.",
            Table(
                {"": "", "records per second": ".0f", "CPU per record, µs": ".0f"},
                [("this service", rate, cpu_us)],
            ),
        ],
    )


def _store() -> None:
    account_id, form_id = new_id(), new_id()
    for number in range(RECORDS):
        feedback.create(respondent_feedback(account_id, form_id, number), None)


def _sweep() -> tuple[float, float]:
    """Sweep all records a day later. Return the records per second and the CPU µs per record."""
    a_day_later = clock.now() + timedelta(days=1)
    clock.now = lambda: a_day_later
    with measured(ADDED_MS) as cost:
        swept = sweep(kind_of_work(FEEDBACK))
    assert swept.records == RECORDS, swept
    return RECORDS / cost.seconds, cost.cpu_s / RECORDS * 1e6
