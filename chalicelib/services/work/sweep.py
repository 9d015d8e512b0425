"""Requeue overdue work."""

from collections.abc import Callable
from typing import Any, Final

from chalicelib.domain import clock
from chalicelib.services.work.kinds import KindOfWork

MAX_PER_SHARD: Final = 100
_QUEUED_AT_ONCE: Final = 10


def sweep(work: KindOfWork, has_time_left: Callable[[], bool] = lambda: True) -> int:
    """Requeue overdue work of one kind. Return the number of requeued records.

    Each call requeues at most `MAX_PER_SHARD` records per shard, so that a backlog in one shard
    does not delay the others. Each record is rescheduled before it is queued, so that concurrent
    sweeps do not queue it twice. If time runs out, the remaining records stay overdue for the next
    sweep.
    """
    now = clock.now()
    pointers: list[Any] = []
    swept = 0
    try:
        for due in work.records.overdue(now, MAX_PER_SHARD):
            if not has_time_left():
                break
            pointer = work.records.reschedule(due, now)
            if pointer is None:
                continue
            swept += 1
            pointers.append(pointer)
            if len(pointers) == _QUEUED_AT_ONCE:
                work.queue(pointers)
                pointers = []
    finally:
        # If the database fails, still queue the records that are already rescheduled.
        if pointers:
            work.queue(pointers)
    return swept
