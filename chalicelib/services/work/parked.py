"""List and replay parked work. Work is parked after its last allowed attempt fails."""

from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.work import ParkedWork
from chalicelib.services.work.kinds import ALL_WORK

MAX_LISTED: Final = 100


def list_parked_work() -> list[ParkedWork]:
    """Return up to 100 parked work records of all accounts, the earliest parked first."""
    parked = [work for kind in ALL_WORK for work in kind.records.parked(MAX_LISTED)]
    return sorted(parked, key=lambda work: work.parked_at)[:MAX_LISTED]


def replay(owner_id: str, part: str | None = None) -> int:
    """Reset the failure count of parked work records and queue the work.

    Return the number of replayed records.

    Args:
        owner_id: the id of the import, feedback or execution that the work belongs to.
        part: the part of the work to replay, for example one chunk of an import. Default: all
            parked parts of the owner.

    Raises:
        NotFound: the owner has no such parked work.
    """
    replayed = 0
    for kind in ALL_WORK:
        for parked_part in kind.records.parked_parts(owner_id):
            if part in (None, parked_part):
                kind.queue([kind.records.revive(owner_id, parked_part, clock.now())])
                replayed += 1
    if not replayed:
        raise NotFound("parked work")
    return replayed
