"""Requeue overdue work, every minute."""

from collections import Counter
from typing import Final

from chalice.app import CloudWatchEvent

from chalicelib.functions.time_left import time_left_s
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.services.customers.request_positions import request_overdue_positions
from chalicelib.services.work.kinds import ALL_WORK
from chalicelib.services.work.sweep import sweep as sweep_work

_TIME_TO_STOP_S: Final = 10.0


def sweep(event: CloudWatchEvent) -> None:
    """Requeue overdue work of every kind until none is left or the function's time runs out.

    Positions for unlisted customers are requested once for each account.

    The kinds take turns, so that a failure or a backlog of one kind does not block the others. If a
    kind fails, its first exception is raised again at the end.
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
    try:
        accounts = request_overdue_positions(has_time_left)
        logger.info("overdue listing requested", **metric_fields("work", "listing", swept=accounts))
    except Exception as error:
        logger.exception("sweep failed", work="listing")
        failures.append(error)
    if failures:
        raise failures[0]
