"""Finding work that is overdue and putting it back on its queue.

Each kind of work brings its own table and queue; what is the same for all of them is here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from chalicelib.domain import clock
from chalicelib.domain.work import DueWork
from chalicelib.outbound.feedback_queue import queue_feedback
from chalicelib.outbound.import_queue import queue_chunks
from chalicelib.outbound.webhook_queue import queue_executions
from chalicelib.storage import executions, feedback, imports

MOST_OF_A_SHARD: Final = 250
_QUEUED_AT_ONCE: Final = 10


@dataclass(frozen=True)
class SweptWork:
    """One kind of work.

    Attributes:
        overdue: what the index names as overdue at a moment, at most so many of each shard.
        put_off: moves one record's time forward and answers its pointer; None when it has ended.
        queue: queues pointers and answers how many the queue took.
    """

    name: str
    overdue: Callable[[datetime, int], Iterator[DueWork]]
    put_off: Callable[[DueWork, datetime], Any | None]
    queue: Callable[[list[Any]], int]


IMPORTS: Final = SweptWork("imports", imports.overdue, imports.put_off, queue_chunks)
FEEDBACK: Final = SweptWork("feedback", feedback.overdue, feedback.put_off, queue_feedback)
WEBHOOKS: Final = SweptWork("webhooks", executions.overdue, executions.put_off, queue_executions)
ALL_WORK: Final = (IMPORTS, FEEDBACK, WEBHOOKS)


def sweep(work: SweptWork, has_time_left: Callable[[], bool] = lambda: True) -> int:
    """Queues this kind's overdue work again; answers how many records.

    Each record's time is moved forward before it is queued, so that two sweeps, or a sweep and a
    long backlog, do not queue it twice. What there is no time for, the next sweep finds.
    """
    now = clock.now()
    pointers: list[Any] = []
    swept = 0
    try:
        for due in work.overdue(now, MOST_OF_A_SHARD):
            if not has_time_left():
                break
            pointer = work.put_off(due, now)
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
