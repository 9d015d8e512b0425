"""The table of changes to feedback: the order in which partners read them.

Each transaction that changes feedback which partners see adds one entry with the next number of the
account. It changes the head of the account, with the last number, on condition that the head is
unchanged. Therefore numbers have no gaps, and an entry with a higher number was committed later.
Times cannot order the changes: a transaction can take long, and clocks differ.

DynamoDB applies the writes of a transaction one after the other. An entry can therefore be visible
before the feedback that it names. The transaction also stores the number of the entry in the rows
of the feedback, so that a reader knows whether a row is older than the entry.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute

from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, JsonAttribute, optional
from chalicelib.storage.dynamodb.table import Key, Table, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.trackers import TrackerRow

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
    ids = JsonAttribute[list[str]](null=True)
    numbers_rows = optional(BooleanAttribute)
    epoch = optional(UnicodeAttribute)


@dataclass(frozen=True)
class Head:
    """The end of an account's list of changes: the number and the time of the last entry.

    The time is a text; ``""`` without entries. Each new entry is added on condition that the head
    is unchanged, so that two transactions never use the same number.
    """

    last: int
    changed_at: str


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
    """Return the key of an account's head, so that one request can read it and other rows."""
    return Key(FeedbackChangeRow, account_id, HEAD)


def head_of(row: FeedbackChangeRow | None) -> Head:
    """Return the head of an account, which may not exist yet."""
    return Head(row.last or 0, row.changed_at or "") if row else Head(0, "")


def load_head(account_id: str) -> Head:
    """Return the head of an account. One consistent request."""
    return head_of(read_together(head_key(account_id))[0])


def load_heads_and_related(
    account_ids: Collection[str],
    customer_keys: Collection[tuple[str, str]],
    tracker_ids: Collection[str] = (),
) -> tuple[dict[str, Head], set[tuple[str, str]], dict[str, str]]:
    """Return the heads of the accounts, the keys of the customers that exist, and sent surveys.

    The surveys are the keys of the groups in which they are counted as sent, by id of the tracker.
    One consistent request for up to 100 keys.

    Args:
        customer_keys: pairs of an account id and a customer id.
    """
    # Imported here: a submission does not need the models of customers.
    from chalicelib.storage.customers import customer_key

    heads = {each: head_key(each) for each in account_ids}
    customers = {each: customer_key(*each) for each in customer_keys}
    trackers = {each: Key(TrackerRow, each) for each in tracker_ids}
    read = Rows()
    read.prefetch(*heads.values(), *customers.values(), *trackers.values())
    groups = {each: row.counted_as for each, key in trackers.items() if (row := read.known(key))}
    return (
        {each: head_of(read.known(key)) for each, key in heads.items()},
        {each for each, key in customers.items() if read.known(key)},
        {each: group for each, group in groups.items() if group},
    )


def add(
    rows: Rows,
    account_id: str,
    head: Head,
    feedback_ids: Collection[str],
    now: datetime,
    *,
    numbers_rows: bool = True,
) -> int:
    """Add an entry in this transaction, and return its number.

    The transaction fails if the head has changed. The times of entries never decrease, even if
    clocks differ.

    Args:
        numbers_rows: whether the caller deletes the feedback records in this transaction, or stores
            the number in their rows. False if the transaction does not change them.
    """
    changed_at, number = max(format_timestamp(now), head.changed_at), head.last + 1
    key = Key(FeedbackChangeRow, account_id, HEAD)
    rows.expect(key, FeedbackChangeRow.last, head.last or None)
    rows.set(key, FeedbackChangeRow.last, number)
    rows.set(key, FeedbackChangeRow.changed_at, changed_at)
    entry = FeedbackChangeRow(account_id, entry_key(number), changed_at=changed_at)
    entry.ids, entry.numbers_rows = list(feedback_ids), numbers_rows or None
    rows.save(entry)
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
    first, last = 0, load_head(account_id).last  # the number is in this range
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
