"""Work that was given up after too many claims: seeing it, and sending it back."""

from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.work import ParkedWork
from chalicelib.services.work.kinds import ALL_WORK

MAX_LISTED: Final = 100


def list_parked_work() -> list[ParkedWork]:
    """Parked work of every account, the longest waiting first, at most 100."""
    everything = [work for kind in ALL_WORK for work in kind.records.parked(MAX_LISTED)]
    return sorted(everything, key=lambda work: work.parked_at)[:MAX_LISTED]


def replay(owner_id: str, part: str | None = None) -> int:
    """Makes parked work open again, with all its claims, and queues it; answers how many records.

    Without a part, everything of the owner that is parked.

    Raises:
        NotFound: there is no such parked work.
    """
    replayed = 0
    for kind in ALL_WORK:
        for each in kind.records.parked_parts(owner_id):
            if part is None or part == each:
                kind.queue([kind.records.revive(owner_id, each, clock.now())])
                replayed += 1
    if not replayed:
        raise NotFound("parked work")
    return replayed
