"""Read the state of background work; list and replay parked work.

Work is parked after its last allowed attempt fails.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice
from typing import Final

from admin.outbound.queue_depths import QueueDepth, read_depths
from admin.storage.parked import ParkedWork, count_parked, list_parked, parked_parts
from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.paging import in_groups
from chalicelib.outbound.queues import send
from chalicelib.queues import ALL_QUEUES
from chalicelib.services.work.kinds import ALL_WORK, KindOfWork

MAX_LISTED: Final = 100
_AT_ONCE: Final = 100


def read_status() -> tuple[list[QueueDepth], dict[str, int]]:
    """Return the depth of each queue, and the number of parked records of each kind of work.

    AWS requests: four per queue, one per kind of work (one more per further MB of parked work), and
    one to CloudWatch.
    """
    parked = {kind.records.kind: count_parked(kind.records) for kind in ALL_WORK}
    return read_depths(ALL_QUEUES), parked


def list_parked_work() -> list[ParkedWork]:
    """Return up to 100 parked work records of all accounts, the earliest parked first."""
    parked = [work for kind in ALL_WORK for work in islice(list_parked(kind.records), MAX_LISTED)]
    return sorted(parked, key=lambda work: work.parked_at)[:MAX_LISTED]


def replay(owner_id: str, part: str | None = None) -> int:
    """Reset the failure count of parked work records and queue the work.

    Return the number of replayed records.

    Args:
        owner_id: the id of the record that the work belongs to, such as an import or an execution.
        part: the sort key of the record to replay: the chunk of an import. Default: all
            parked parts of the owner.

    Raises:
        NotFound: the owner has no such parked work.
    """
    replayed = 0
    for kind in ALL_WORK:
        parts = parked_parts(kind.records, owner_id)
        replayed += _replay(kind, ((owner_id, each) for each in parts if part in (None, each)))
    if not replayed:
        raise NotFound("parked work")
    return replayed


def replay_matching(
    kind_name: str | None,
    account_id: str | None,
    since: datetime | None,
    on_replayed: Callable[[int], None],
) -> int:
    """Replay all parked work of a kind, an account and a time. Return the number of records.

    Work that is parked again in the meantime is not replayed twice.

    Args:
        kind_name: the kind of work, for example ``import``. Default: all kinds.
        account_id: the account of the work. Default: all accounts.
        since: the earliest time of parking. Default: any time.
        on_replayed: called with the number of records after each group of up to 100 records.
    """
    started_at = clock.now()
    replayed = 0
    for kind in ALL_WORK:
        if kind_name not in (None, kind.records.kind):
            continue
        matching = (
            (work.owner_id, work.part)
            for work in list_parked(kind.records, since)
            if account_id in (None, work.account_id)
            # The index contains whole seconds.
            and (since is None or work.parked_at >= since)
            and work.parked_at <= started_at
        )
        replayed += _replay(kind, matching, on_replayed)
    return replayed


def _replay(
    kind: KindOfWork,
    keys: Iterable[tuple[str, str]],
    on_replayed: Callable[[int], None] = lambda _: None,
) -> int:
    """Queue the records with these owners and parts that are still parked. Return their number."""
    replayed = 0
    for group in in_groups(keys, _AT_ONCE):
        reopened = kind.records.reopen(group, clock.now())
        send(kind.queue, reopened)
        replayed += len(reopened)
        on_replayed(len(reopened))
    return replayed
