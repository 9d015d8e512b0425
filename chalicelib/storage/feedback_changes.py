"""The table of changes to feedback: the order in which partners read them.

Each transaction that changes feedback which partners see adds one entry with the next number of the
account. It changes the head of the account, with the last number, on condition that the head is
unchanged. Therefore numbers have no gaps, and an entry with a higher number was committed later.
Times cannot order the changes: a transaction can take long, and clocks differ.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, JsonAttribute
from chalicelib.storage.dynamodb.table import Table, account_key, read_together
from chalicelib.storage.dynamodb.transactions import create
from chalicelib.storage.trackers import TrackerRow

HEAD: Final = "head"
EPOCH: Final = "epoch"
"""The keys of the row with the epoch. A restore of the tables replaces it."""

_DIGITS: Final = 12
_PROBES: Final = 100


class FeedbackChangeRow(Table):
    """The table row of an entry, of the head of an account, or of the epoch.

    The sort key of an entry is its number with leading zeros.
    """

    is_contended = True

    class Meta:
        name = "feedback-changes"

    account_id = UnicodeAttribute(hash_key=True)
    number = UnicodeAttribute(range_key=True)
    last = IntegerAttribute(null=True)
    changed_at = UnicodeAttribute(null=True)
    ids = JsonAttribute(null=True)
    epoch = UnicodeAttribute(null=True)


@dataclass(frozen=True)
class Head:
    """The last number of an account, and the time of its entry as text; ``""`` without entries."""

    last: int
    changed_at: str


@dataclass(frozen=True)
class Entry:
    """The ids of the feedback records that one transaction changed."""

    number: int
    at: datetime
    ids: tuple[str, ...]


def load_epoch() -> str:
    """Return the epoch: ``""`` until the first restore. One consistent request."""
    (row,) = read_together((FeedbackChangeRow, EPOCH, EPOCH))
    return (row.epoch or "") if row else ""


def head_key(account_id: str) -> tuple[type[FeedbackChangeRow], str, str]:
    """Return the key of an account's head, so that one request can read it and other rows."""
    return FeedbackChangeRow, account_id, HEAD


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
    from chalicelib.storage.customers import CustomerRow

    heads, keys, trackers = list(account_ids), list(customer_keys), list(tracker_ids)
    rows = iter(
        read_together(
            *map(head_key, heads),
            *((CustomerRow, account_key(*key)) for key in keys),
            *((TrackerRow, tracker_id) for tracker_id in trackers),
        )
    )
    return (
        {account_id: head_of(next(rows)) for account_id in heads},
        {key for key in keys if next(rows)},
        {row.tracker_id: row.counted_as for row in rows if row and row.counted_as},
    )


def add(
    write: TransactWrite,
    account_id: str,
    head: Head,
    feedback_ids: Collection[str],
    now: datetime,
) -> None:
    """Add an entry in this transaction. The transaction fails if the head has changed.

    The times of entries never decrease, even if clocks differ.
    """
    changed_at, number = max(format_timestamp(now), head.changed_at), head.last + 1
    write.update(FeedbackChangeRow(account_id, HEAD), *_new_head(head, number, changed_at))
    ids = list(feedback_ids)
    write.save(FeedbackChangeRow(account_id, _key(number), changed_at=changed_at, ids=ids))


def _new_head(head: Head, last: int, changed_at: str) -> tuple[list[Action], Condition]:
    """Return the actions of an update of the head, and the condition that it is unchanged."""
    row = FeedbackChangeRow
    return row.changes(last=last, changed_at=changed_at), row.has(last=head.last or None)


def load_after(account_id: str, number: int, at_most: int) -> list[Entry]:
    """Return the entries after this number, in order and without gaps.

    DynamoDB applies the writes of a transaction one after the other. An entry after a gap is
    therefore omitted until the gap is closed. One consistent request per MB, about 700 entries.
    """
    entries: list[Entry] = []
    for row in _entries(account_id, number + 1, at_most):
        if int(row.number) != number + len(entries) + 1:
            break
        entries.append(_entry(row))
    return entries


def find_last_before(account_id: str, at: datetime) -> int:
    """Return the number of the last entry before this time; 0 if there is none.

    One consistent request for the head, and one for each two digits of the last number.
    """
    text = format_timestamp(at)
    first, last = 0, load_head(account_id).last  # the number is in this range
    while first < last:
        step = max(1, -(-(last - first) // _PROBES))
        numbers = range(first + step, last + 1, step)
        rows = read_together(*((FeedbackChangeRow, account_id, _key(n)) for n in numbers))
        earlier = [
            number
            for number, row in zip(numbers, rows, strict=True)
            if row and row.changed_at < text
        ]
        found = earlier[-1] if earlier else first
        first, last = found, min(last, found + step - 1)
    return first


def repair(account_id: str) -> int:
    """Close the gaps between an account's entries, and correct its head. Return the number of gaps.

    A restore reads each row as of almost the same time, but not the rows of a transaction together.
    About one request per 700 entries, and one per gap.
    """
    head, gaps = load_head(account_id), 0
    last, changed_at = 0, ""
    for row in _entries(account_id, 1, None):
        gaps += _close(account_id, range(last + 1, int(row.number)), row.changed_at)
        last, changed_at = int(row.number), max(changed_at, row.changed_at)
    gaps += _close(account_id, range(last + 1, head.last + 1), max(changed_at, head.changed_at))
    if last > head.last:
        FeedbackChangeRow(account_id, HEAD).update(*_new_head(head, last, changed_at))
    return gaps


def _close(account_id: str, numbers: range, changed_at: str) -> int:
    """Add entries without ids. Return their number."""
    entry = {"account_id": account_id, "changed_at": changed_at, "ids": []}
    for number in numbers:
        create(FeedbackChangeRow, entry | {"number": _key(number)})
    return len(numbers)


def _entries(account_id: str, first: int, at_most: int | None) -> Iterator[FeedbackChangeRow]:
    numbers = FeedbackChangeRow.number.between(_key(first), "9" * _DIGITS)
    return iter(FeedbackChangeRow.query(account_id, numbers, consistent_read=True, limit=at_most))


def _entry(row: FeedbackChangeRow) -> Entry:
    return Entry(int(row.number), datetime.fromisoformat(row.changed_at), tuple(row.ids))


def _key(number: int) -> str:
    return f"{number:0{_DIGITS}}"
