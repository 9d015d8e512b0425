"""The table of changes to feedback: the order in which partners read them.

Each transaction that changes feedback which partners see adds one entry with the next number of the
account. It changes the head of the account, with the last number, on condition that the head is
unchanged. Therefore numbers have no gaps, and an entry with a higher number was committed later.
Times cannot order the changes: a transaction can take long, and clocks differ.

DynamoDB applies the writes of a transaction one after the other. An entry can therefore be visible
before the feedback that it names. The transaction also stores the number of the entry in the rows
of the feedback, so that a reader knows whether a row is older than the entry.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute

from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, JsonAttribute, optional
from chalicelib.storage.dynamodb.table import Key, Table, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows

HEAD: Final = "head"
"""The sort key of the head of an account."""

EPOCH: Final = "epoch"
"""Both keys of the row with the epoch."""

_DIGITS: Final = 12
_PROBES: Final = 100


class FeedbackChangeRow(Table):
    """The table row of an entry, of the head of an account, or of the epoch.

    The sort key of an entry is its number with leading zeros. ``numbers_rows`` marks an entry whose
    transaction stored its number in the rows of the feedback records. ``epoch`` is a random text. A
    restore of the tables replaces it, because the next entries repeat earlier numbers; cursors of
    another epoch are invalid.
    """

    is_contended = True

    class Meta:
        name = "feedback-changes"

    account_id = UnicodeAttribute(hash_key=True)
    number = UnicodeAttribute(range_key=True)
    last = optional(IntegerAttribute)
    changed_at = UnicodeAttribute(null=True)
    ids = JsonAttribute[Sequence[str]](null=True)
    numbers_rows = optional(BooleanAttribute)
    epoch = optional(UnicodeAttribute)


@dataclass(frozen=True)
class Entry:
    """The ids of the feedback records that one transaction changed.

    Attributes:
        numbers_rows: whether the transaction stored the number in the rows of the records. False if
            it did not change the records.
    """

    number: int
    at: datetime
    ids: tuple[str, ...]
    numbers_rows: bool = False


def load_epoch() -> str:
    """Return the epoch: ``""`` until the first restore. One consistent request."""
    (row,) = read_together(Key(FeedbackChangeRow, EPOCH, EPOCH))
    return (row.epoch or "") if row else ""


def head_key(account_id: str) -> Key[FeedbackChangeRow]:
    """Return the key of an account's head."""
    return Key(FeedbackChangeRow, account_id, HEAD)


def load_last(account_id: str) -> int:
    """Return the number of the last entry of an account; 0 if there is none. One request."""
    (head,) = read_together(head_key(account_id))
    return (head.last or 0) if head else 0


def add(
    rows: Rows,
    account_id: str,
    feedback_ids: Collection[str],
    now: datetime,
    *,
    numbers_rows: bool = True,
) -> int:
    """Add an entry in this unit of work, which has fetched the head. Return its number.

    The unit relies on the last number. The times of entries never decrease, even if clocks differ.

    Args:
        numbers_rows: whether the caller deletes the feedback records in this transaction, or stores
            the number in their rows. False if the transaction does not change them.
    """
    key = head_key(account_id)
    number = (rows.value(key, FeedbackChangeRow.last) or 0) + 1
    head = rows.known(key)
    changed_at = max(format_timestamp(now), (head and head.changed_at) or "")
    rows.set(key, FeedbackChangeRow.last, number)
    rows.set(key, FeedbackChangeRow.changed_at, changed_at)
    # A restored head can be older than the entries, which are replaced until a repair raises it.
    entry = Key(FeedbackChangeRow, account_id, entry_key(number))
    rows.set(entry, FeedbackChangeRow.changed_at, changed_at)
    rows.set(entry, FeedbackChangeRow.ids, list(feedback_ids))
    rows.set(entry, FeedbackChangeRow.numbers_rows, numbers_rows or None)
    return number


def load_after(account_id: str, number: int, at_most: int) -> list[Entry]:
    """Return the entries after this number, in order and without gaps.

    DynamoDB applies the writes of a transaction one after the other. An entry after a gap is
    therefore omitted until the gap is closed. One consistent request per MB, about 700 entries.
    """
    entries: list[Entry] = []
    for entry in entries_from(account_id, number + 1, at_most):
        if entry.number != number + len(entries) + 1:
            break
        entries.append(entry)
    return entries


def entries_from(account_id: str, first: int, at_most: int | None = None) -> Iterator[Entry]:
    """Yield the entries from this number on, in order. One consistent request per MB."""
    numbers = FeedbackChangeRow.number.between(entry_key(first), "9" * _DIGITS)
    for row in FeedbackChangeRow.query(account_id, numbers, consistent_read=True, limit=at_most):
        yield _entry(row)


def find_last_before(account_id: str, at: datetime) -> int:
    """Return the number of the last entry before this time; 0 if there is none.

    One consistent request for the head, and one for each two digits of the last number.
    """
    text = format_timestamp(at)
    first, last = 0, load_last(account_id)  # the number is in this range
    while first < last:
        step = max(1, -(-(last - first) // _PROBES))
        numbers = range(first + step, last + 1, step)
        rows = read_together(*(Key(FeedbackChangeRow, account_id, entry_key(n)) for n in numbers))
        earlier = [
            number
            for number, row in zip(numbers, rows, strict=True)
            if row and row.changed_at < text
        ]
        found = earlier[-1] if earlier else first
        first, last = found, min(last, found + step - 1)
    return first


def _entry(row: FeedbackChangeRow) -> Entry:
    at, ids = datetime.fromisoformat(row.changed_at), tuple(row.ids)
    return Entry(int(row.number), at, ids, bool(row.numbers_rows))


def entry_key(number: int) -> str:
    """Return the sort key of an entry."""
    return f"{number:0{_DIGITS}}"
