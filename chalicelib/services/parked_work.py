"""Work that was given up after too many claims: seeing it, and sending it back."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.work import ParkedWork
from chalicelib.outbound.feedback_queue import queue_feedback
from chalicelib.outbound.import_queue import queue_chunks
from chalicelib.outbound.webhook_queue import queue_executions
from chalicelib.storage import executions, feedback, imports

MOST_LISTED = 100


@dataclass(frozen=True)
class _Kind:
    """One kind of work.

    Attributes:
        parked: what waits, at most so many, the longest waiting first.
        revive: opens one record again by owner and part, and answers its pointer.
    """

    parked: Callable[[int], list[ParkedWork]]
    revive: Callable[[str, str, datetime], Any]
    queue: Callable[[list[Any]], int]


_KINDS: Final = (
    _Kind(imports.parked, imports.revive, queue_chunks),
    _Kind(feedback.parked, feedback.revive, queue_feedback),
    _Kind(executions.parked, executions.revive, queue_executions),
)


def list_parked_work() -> list[ParkedWork]:
    """Parked work of every account, the longest waiting first, at most 100."""
    everything = [work for kind in _KINDS for work in kind.parked(MOST_LISTED)]
    return sorted(everything, key=lambda work: work.parked_at)[:MOST_LISTED]


def replay(owner_id: str, part: str) -> None:
    """Makes parked work open again, with all its claims, and queues it.

    Raises:
        NotFound: there is no such parked work.
    """
    for kind in _KINDS:
        try:
            pointer = kind.revive(owner_id, part, clock.now())
        except NotFound:
            continue
        kind.queue([pointer])
        return
    raise NotFound("parked work")
