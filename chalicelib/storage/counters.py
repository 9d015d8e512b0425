"""The table of counters: the number of customers, contact forms, surveys and so on of each account.

The transaction that adds a record also increments the account's total of this kind of record. The
new total is the position of the new record in the list, so positions have no gaps. If two
transactions read the same total, only one of them succeeds.

If creates contend for a counter, a worker assigns the positions. The worker reserves the counter
while it works. Creates that read the reservation assign no position.

The counter of customers also contains an erasure counter and the time of the last erasure. An
import checks them in the transaction that creates customers.

A row of an API key contains the day of its last use; see `credentials.mark_used`.

Purchases, feedback and solicitations have no list, so transactions only add to the counters of
these records. Each of these counters is the sum of 16 rows, because concurrent transactions on a
single row would conflict.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from zlib import crc32

from pynamodb.attributes import UnicodeAttribute

from chalicelib.storage.dynamodb.attributes import IntegerAttribute, TimestampAttribute, optional
from chalicelib.storage.dynamodb.table import Key, Table, account_key, find_row
from chalicelib.storage.dynamodb.unit_of_work import Rows

_RESERVED_FOR: Final = timedelta(seconds=10)
SHARDS: Final = 16


class Listed(StrEnum):
    """The kinds of records that the API lists in pages."""

    CUSTOMERS = "customers"
    CONTACT_FORMS = "contact-forms"
    SURVEYS = "surveys"


class Counted(StrEnum):
    """The kinds of records that are counted but not listed."""

    PURCHASES = "purchases"
    FEEDBACK = "feedback"
    SENT = "solicitations-sent"
    SKIPPED = "solicitations-skipped"
    REJECTED = "solicitations-rejected"
    UNKNOWN = "solicitations-unknown"


class CounterRow(Table):
    """The table row that contains the number of an account's records of one kind.

    For a kind in `Counted`, ``account_id`` also contains a shard number, and each row contains a
    part of the number. ``revision`` increases with each change of the part, because changes can
    cancel each other out.
    """

    is_contended = True

    class Meta:
        name = "counters"

    account_id = UnicodeAttribute(hash_key=True)
    kind = UnicodeAttribute(range_key=True)
    total = optional(IntegerAttribute)
    revision = optional(IntegerAttribute)
    reserved_until = optional(IntegerAttribute)
    erasures = optional(IntegerAttribute)
    erased_at = optional(TimestampAttribute)
    used_at = optional(TimestampAttribute)


def load_total(account_id: str, kind: Listed, *, consistent: bool = False) -> int:
    """Return the number of the account's records of this kind."""
    return total_of(find_row(counter_key(account_id, kind), consistent=consistent))


def total_of(counter: CounterRow | None) -> int:
    """Return the total of a counter that may not exist yet."""
    return (counter.total or 0) if counter else 0


def usable_total(counter: CounterRow | None, now: datetime) -> int | None:
    """Return the total, or None if a worker has reserved the counter to assign positions."""
    if counter is not None and (counter.reserved_until or 0) > now.timestamp():
        return None
    return total_of(counter)


def reserve(account_id: str, kind: Listed, now: datetime) -> int:
    """Reserve the counter for ten seconds. Return the total. One request.

    Raises:
        Unavailable: the database throttles, or contention on the counter persists.
    """
    counter = CounterRow(account_id, kind.value)
    counter.update([CounterRow.reserved_until.set(int((now + _RESERVED_FOR).timestamp()))])
    return total_of(counter)


def counter_key(account_id: str, kind: Listed) -> Key[CounterRow]:
    """Return the key of the counter of an account's records of this kind."""
    return Key(CounterRow, account_id, kind.value)


def take_position(rows: Rows, account_id: str, kind: Listed, now: datetime) -> int | None:
    """Return the position of a new record, and count it in this unit of work.

    Return None if a worker has reserved the counter, or if an earlier attempt failed because of
    contention on it.
    """
    key = counter_key(account_id, kind)
    if rows.can_do_without(key):
        return None
    if usable_total(rows.peek(key, because="only the total is relied on"), now) is None:
        return None
    return next_position(rows, key)


def next_position(rows: Rows, key: Key[CounterRow]) -> int:
    """Return the position of a new record, and count it in this unit of work."""
    position = (rows.value(key, CounterRow.total) or 0) + 1
    rows.set(key, CounterRow.total, position)
    return position


def mark_erasure(rows: Rows, account_id: str, at: datetime) -> None:
    """Store in this unit of work that a customer is erased. Concurrent imports read again."""
    key = counter_key(account_id, Listed.CUSTOMERS)
    rows.add(key, CounterRow.erasures, 1)
    rows.set(key, CounterRow.erased_at, at)


def count(rows: Rows, account_id: str, kind: Counted, record_id: str, by: int = 1) -> None:
    """Add ``by`` to the number of the account's records of this kind in this transaction.

    Args:
        record_id: the id of a counted record. The id selects one of the counter's rows.
    """
    shard = crc32(record_id.encode()) % SHARDS
    key = Key(CounterRow, shard_key(account_id, shard), kind.value)
    rows.add(key, CounterRow.total, by)
    rows.add(key, CounterRow.revision, 1)


def shard_key(account_id: str, shard: int) -> str:
    """Return the partition key of a shard of the account's counters."""
    return account_key(account_id, str(shard))
