"""Background work: due times, shards, retries and parking.

Until the work is finished, its record has the attributes ``due_at`` and ``work_shard``. A sparse
index on these two attributes contains only unfinished records, so the sweeper can find and requeue
overdue work.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple
from zlib import crc32

PENDING: Final = "PENDING"
"""State of unfinished work."""

PARKED: Final = "PARKED"
"""State of work that used all allowed attempts and is not retried until an operator replays it."""

_ACCOUNT_GROUPS: Final = 8
_SHARDS_PER_GROUP: Final = 4
PARKED_SHARD: Final = "parked"
"""Index shard of all parked work. The sweeper does not query this shard."""

MAX_CLAIMS: Final = 8
FIRST_DELAY: Final = timedelta(minutes=2)
REQUEUE_DELAY: Final = timedelta(minutes=5)
REQUEUE_FACTOR: Final = 4
MAX_REQUEUE_DELAY: Final = timedelta(minutes=55)
FIRST_DEFERRAL: Final = timedelta(seconds=5)
MAX_DEFERRAL: Final = timedelta(minutes=5)
MAX_DELAY: Final = timedelta(hours=1)

MAX_WAIT: Final = timedelta(minutes=10)
"""The time after which waiting for an index counts as a failure."""

MAX_RUN: Final = timedelta(seconds=100)
"""The time after which a start that has no outcome counts as a failure.

A start is recorded when a worker begins to process a redelivered record. This time is longer than
the time-out of each worker and shorter than the visibility time-out of each queue.
"""


class WorkState(StrEnum):
    """State of work that is pending until it is done or parked."""

    PENDING = PENDING
    DONE = "DONE"
    PARKED = PARKED


class Interruption(StrEnum):
    """The result of an attempt that raised an exception or was interrupted."""

    DEFERRED = "deferred"
    RESCHEDULED = "retry scheduled"
    PARKED = "parked"


@dataclass(frozen=True)
class DueWork:
    """An entry of the index of due work.

    The index is eventually consistent, so the work record may have changed after it was indexed.

    Attributes:
        owner_id: the record's partition key, for example the id of an import.
        part: the record's sort key.
        due_at: due time in epoch seconds, as indexed; for parked work, the time of parking.
    """

    owner_id: str
    part: str
    due_at: int


def shard_of(account_id: str, owner_id: str, part: str) -> str:
    """Return the index shard of a work record.

    The account id selects a group of four shards; each record uses one of them. A backlog of one
    account therefore affects only the accounts with the same group, about one in eight.
    """
    offset = crc32(f"{owner_id}/{part}".encode()) % _SHARDS_PER_GROUP
    return shards_of_account(account_id)[offset]


def open_shards() -> list[str]:
    """Return all shards that can contain unfinished work."""
    return [shard for group in range(_ACCOUNT_GROUPS) for shard in _shards_of_group(group)]


def shards_of_account(account_id: str) -> list[str]:
    """Return the shards that contain the account's unfinished work."""
    return _shards_of_group(crc32(account_id.encode()) % _ACCOUNT_GROUPS)


def _shards_of_group(group: int) -> list[str]:
    return [f"open-{group * _SHARDS_PER_GROUP + offset}" for offset in range(_SHARDS_PER_GROUP)]


def first_due(now: datetime) -> int:
    """Return the due time of new work in epoch seconds.

    Normally, a worker receives the queue message and finishes the work before this time. If the
    work is unfinished at its due time, the sweeper requeues it.
    """
    return int((now + FIRST_DELAY).timestamp())


def due_after_requeue(now: datetime, requeues: int) -> int:
    """Return the due time of requeued work in epoch seconds.

    The first delay is five minutes, the second is 20, and each later one is 55. While a queue has a
    backlog, each record therefore adds up to three messages to the queue in an hour, and then about
    one in each further hour. A lost message is replaced within the hour.

    Args:
        requeues: the number of times that the record was requeued since its last attempt.
    """
    # Without the limit of the exponent, the result could exceed the range of timedelta.
    wait = min(MAX_REQUEUE_DELAY, REQUEUE_DELAY * REQUEUE_FACTOR ** min(requeues, 5))
    return int((now + wait).timestamp())


def due_after_deferral(now: datetime, deferrals: int) -> int:
    """Return the due time of deferred work in epoch seconds.

    The first delay is five seconds. It doubles with each further deferral, up to five minutes.
    """
    # Without the limit of the exponent, the result could exceed the range of timedelta.
    wait = min(MAX_DEFERRAL, FIRST_DEFERRAL * 2 ** min(deferrals - 1, 10))
    return int((now + wait).timestamp())


def due_after_failure(now: datetime, failures: int) -> int:
    """Return the due time after a failure in epoch seconds.

    The delay is one minute after the first failure. It doubles with each further failure, up to one
    hour.

    Args:
        failures: the number of failures so far, at least 1.
    """
    delay = min(MAX_DELAY, timedelta(seconds=30) * 2**failures)
    return int((now + delay).timestamp())


class Swept(NamedTuple):
    """The result of a sweep.

    Attributes:
        records: the number of requeued or anonymized records; for list positions, of accounts.
        oldest_s: the longest time for which one of them has waited in seconds, from the time at
            which it was ready; for the retention, one of the accounts. 0 if none waits.
        error: the first exception of an account in the retention. The other accounts were handled.
    """

    records: int = 0
    oldest_s: int = 0
    error: Exception | None = None
