"""Work that was given up after too many claims: seeing it, and sending it back."""

from chalicelib.domain import clock
from chalicelib.domain.work import ParkedWork
from chalicelib.outbound.import_queue import queue_chunks
from chalicelib.storage import imports

MOST_LISTED = 100


def list_parked_work() -> list[ParkedWork]:
    """Parked work of every account, the longest waiting first, at most 100."""
    return imports.parked(MOST_LISTED)


def replay(owner_id: str, part: str) -> None:
    """Makes parked work open again, with all its claims, and queues it.

    Raises:
        NotFound: there is no such parked work.
    """
    queue_chunks([imports.revive(owner_id, part, clock.now())])
