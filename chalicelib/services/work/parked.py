"""List and replay parked work: work that failed too often."""

from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.work import ParkedWork
from chalicelib.services.work.kinds import ALL_WORK

MAX_LISTED: Final = 100


def list_parked_work() -> list[ParkedWork]:
    """Return the parked work of all accounts, the earliest parked first, at most 100."""
    parked = [work for kind in ALL_WORK for work in kind.records.parked(MAX_LISTED)]
    return sorted(parked, key=lambda work: work.parked_at)[:MAX_LISTED]


def replay(owner_id: str, part: str | None = None) -> int:
    """Reset the failures of parked work and queue it. Return the number of records.

    Args:
        part: the part to replay; by default all parked parts of the owner.

    Raises:
        NotFound: no such work is parked.
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
