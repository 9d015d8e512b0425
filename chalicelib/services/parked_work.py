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
        parked_parts: the parts of one owner's work that wait.
        revive: opens one record again by owner and part, and answers its pointer.
    """

    parked: Callable[[int], list[ParkedWork]]
    parked_parts: Callable[[str], list[str]]
    revive: Callable[[str, str, datetime], Any]
    queue: Callable[[list[Any]], int]


_KINDS: Final = (
    _Kind(imports.parked, imports.parked_parts, imports.revive, queue_chunks),
    _Kind(feedback.parked, feedback.parked_parts, feedback.revive, queue_feedback),
    _Kind(executions.parked, executions.parked_parts, executions.revive, queue_executions),
)


def list_parked_work() -> list[ParkedWork]:
    """Parked work of every account, the longest waiting first, at most 100."""
    everything = [work for kind in _KINDS for work in kind.parked(MOST_LISTED)]
    return sorted(everything, key=lambda work: work.parked_at)[:MOST_LISTED]


def replay(owner_id: str, part: str | None = None) -> int:
    """Makes parked work open again, with all its claims, and queues it; answers how many records.

    Without a part, everything of the owner that is parked.

    Raises:
        NotFound: there is no such parked work.
    """
    replayed = 0
    for kind in _KINDS:
        for each in kind.parked_parts(owner_id):
            if part is None or part == each:
                kind.queue([kind.revive(owner_id, each, clock.now())])
                replayed += 1
    if not replayed:
        raise NotFound("parked work")
    return replayed
