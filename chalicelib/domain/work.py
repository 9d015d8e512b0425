"""Background work: due times, shards, retries and parking.

Each work record has ``due_at`` and a shard until it is finished. A sparse index of the two contains
only unfinished records, so the sweeper can find and requeue overdue work.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zlib import crc32

PENDING: Final = "PENDING"
"""State of unfinished work."""

PARKED: Final = "PARKED"
"""State of work that failed too often and waits for an operator."""

_ACCOUNT_GROUPS: Final = 8
_SHARDS_OF_A_GROUP: Final = 2
PARKED_SHARD: Final = "parked"
"""Shard of parked work. The sweeper does not query it."""

MAX_CLAIMS: Final = 8
FIRST_DELAY: Final = timedelta(minutes=2)
REQUEUE_DELAY: Final = timedelta(minutes=5)
MAX_DELAY: Final = timedelta(hours=1)


@dataclass(frozen=True)
class DueWork:
    """A record listed by the due index, which is eventually consistent.

    Attributes:
        owner_id: the record's hash key, for example the id of an import.
        part: the record's range key.
        due_at: due time in epoch seconds, as indexed; for parked work, the time of parking.
    """

    owner_id: str
    part: str
    due_at: int


@dataclass(frozen=True)
class ParkedWork:
    """Work that failed too often and waits for an operator.

    Attributes:
        kind: the kind of work, for example ``import``.
        reason: the reason of the last failure.
    """

    kind: str
    account_id: str
    owner_id: str
    part: str
    claims: int
    reason: str
    parked_at: datetime


def shard_of(account_id: str, owner_id: str, part: str) -> str:
    """Return the index shard of a work record.

    An account's records use two shards, which it shares with an eighth of the other accounts. A
    backlog of one account therefore does not fill the shards of most other accounts.
    """
    group = crc32(account_id.encode()) % _ACCOUNT_GROUPS
    own = crc32(f"{owner_id}/{part}".encode()) % _SHARDS_OF_A_GROUP
    return _shard(group, own)


def open_shards() -> list[str]:
    """Return all shards that contain unfinished work."""
    return [
        _shard(group, own) for group in range(_ACCOUNT_GROUPS) for own in range(_SHARDS_OF_A_GROUP)
    ]


def shards_of_account(account_id: str) -> list[str]:
    """Return the shards that contain the account's unfinished work."""
    group = crc32(account_id.encode()) % _ACCOUNT_GROUPS
    return [_shard(group, own) for own in range(_SHARDS_OF_A_GROUP)]


def _shard(group: int, own: int) -> str:
    return f"open-{group * _SHARDS_OF_A_GROUP + own}"


def first_due(now: datetime) -> int:
    """Return the first due time of new work in epoch seconds. Its message arrives earlier."""
    return int((now + FIRST_DELAY).timestamp())


def due_after_requeue(now: datetime) -> int:
    """Return the due time of requeued work in epoch seconds."""
    return int((now + REQUEUE_DELAY).timestamp())


def due_after_failure(now: datetime, claims: int) -> int:
    """Return the due time after a failure in epoch seconds. The delay doubles, up to an hour."""
    wait = min(MAX_DELAY, timedelta(seconds=30) * 2**claims)
    return int((now + wait).timestamp())
