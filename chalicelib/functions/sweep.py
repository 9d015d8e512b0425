"""Requeue overdue work. A schedule invokes this function every minute."""

from collections import Counter
from typing import Final

from chalice.app import CloudWatchEvent

from chalicelib.functions.time_left import time_left_s
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.services.work.kinds import ALL_WORK
from chalicelib.services.work.sweep import sweep as sweep_work

_TIME_TO_STOP_S: Final = 10.0


def sweep(event: CloudWatchEvent) -> None:
    """Requeue overdue work of every kind until none is left or the function's time runs out.

    The function requeues some work of each kind in turn, so that a failure or a backlog of one kind
    does not block the others. The first exception is raised again after all kinds are finished.
    """

    def has_time_left() -> bool:
        return time_left_s(event) > _TIME_TO_STOP_S

    swept: Counter[str] = Counter()
    failures = []
    unfinished = list(ALL_WORK)
    while unfinished and has_time_left():
        for work in list(unfinished):
            try:
                count = sweep_work(work, has_time_left)
            except Exception as error:
                logger.exception("sweep failed", work=work.records.kind)
                failures.append(error)
                count = 0
            swept[work.records.kind] += count
            if not count:
                unfinished.remove(work)
    for kind, count in swept.items():
        logger.info("overdue work requeued", **metric_fields("work", kind, swept=count))
    if failures:
        raise failures[0]
