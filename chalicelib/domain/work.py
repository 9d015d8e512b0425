"""Work that must not be lost: when it is due again, and when it is given up to the operator.

A record of work carries ``due_at`` and a shard until it ends. A sparse index of the two holds just
what is unfinished, so whatever is overdue can be found and queued again.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zlib import crc32

PENDING: Final = "PENDING"
"""The state of work that is still to be done."""

PARKED: Final = "PARKED"
"""The state of work that was given up to an operator."""

_ACCOUNT_GROUPS: Final = 8
_SHARDS_OF_A_GROUP: Final = 2
PARKED_SHARD: Final = "parked"
"""Where parked work waits for an operator; the sweeper does not look there."""

MAX_CLAIMS: Final = 8
FIRST_DELAY: Final = timedelta(minutes=2)
REQUEUE_DELAY: Final = timedelta(minutes=5)
MAX_DELAY: Final = timedelta(hours=1)


@dataclass(frozen=True)
class DueWork:
    """A record that the index names. The index lags, so it only nominates.

    Attributes:
        owner_id: the record's hash key: the id of an import, for example.
        part: its range key.
        due_at: epoch seconds, as the index has it; of parked work, when it was parked.
    """

    owner_id: str
    part: str
    due_at: int


@dataclass(frozen=True)
class ParkedWork:
    """Work that was claimed too often without coming to an end, kept for an operator.

    Attributes:
        kind: what sort of work it is: ``import``.
        reason: what its last claim failed with.
    """

    kind: str
    account_id: str
    owner_id: str
    part: str
    claims: int
    reason: str
    parked_at: datetime


def shard_of(account_id: str, owner_id: str, part: str) -> str:
    """The shard of the index that this record of work belongs to.

    An account has two of them to itself and to an eighth of the other accounts: whatever piles up
    for one account leaves the shards of most others short.
    """
    group = crc32(account_id.encode()) % _ACCOUNT_GROUPS
    own = crc32(f"{owner_id}/{part}".encode()) % _SHARDS_OF_A_GROUP
    return _shard(group, own)


def open_shards() -> list[str]:
    """Every shard that holds unfinished work."""
    return [
        _shard(group, own) for group in range(_ACCOUNT_GROUPS) for own in range(_SHARDS_OF_A_GROUP)
    ]


def _shard(group: int, own: int) -> str:
    return f"open-{group * _SHARDS_OF_A_GROUP + own}"


def first_due(now: datetime) -> int:
    """When fresh work is overdue, in epoch seconds: its message gets some time to arrive."""
    return int((now + FIRST_DELAY).timestamp())


def due_after_requeue(now: datetime) -> int:
    """When work that was just queued again is overdue once more, in epoch seconds."""
    return int((now + REQUEUE_DELAY).timestamp())


def due_after_failure(now: datetime, claims: int) -> int:
    """When work that failed is tried again, in epoch seconds: the wait doubles up to an hour."""
    wait = min(MAX_DELAY, timedelta(seconds=30) * 2**claims)
    return int((now + wait).timestamp())
