"""Finding work that is overdue and putting it back on its queue."""

from collections.abc import Callable
from typing import Any, Final

from chalicelib.domain import clock
from chalicelib.services.work.kinds import KindOfWork

MAX_PER_SHARD: Final = 100
_QUEUED_AT_ONCE: Final = 10


def sweep(work: KindOfWork, has_time_left: Callable[[], bool] = lambda: True) -> int:
    """Queues some of this kind's overdue work again; answers how many records, 0 when none is left.

    Some of each shard, so that what piled up in one leaves the others their turn. Each record's
    time is moved forward before it is queued, so that two sweeps, or a sweep and a long backlog, do
    not queue it twice. What there is no time for, the next sweep finds.
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
        # Also when the database fails halfway: what was put off must not wait for nothing.
        if pointers:
            work.queue(pointers)
    return swept
