"""Repair the feeds of accounts after a restore.

A restore reads each row as of almost the same time, but not the rows of a transaction together.
Entries can therefore be missing, and the head of an account or the rows of feedback can be older or
newer than the last entry. The repairs are safe while the service changes the feed.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.paging import in_groups
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.table import Key, read_together
from chalicelib.storage.dynamodb.transactions import create, retry_on_contention, try_write
from chalicelib.storage.dynamodb.unit_of_work import Contention, transaction
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.feedback_changes import (
    HEAD,
    Entry,
    FeedbackChangeRow,
    Head,
    entries_from,
    entry_key,
    load_head,
)

_ENTRIES_AT_ONCE: Final = 5


def repair(account_id: str) -> int:
    """Close the gaps between an account's entries, and correct its head. Return the number of gaps.

    Remove the mark of entries that are ahead of the rows of their feedback, so that no reader waits
    for these rows. About one request per 350 entries, one per 100 records of marked entries, and
    one per gap.
    """
    head, missing = load_head(account_id), list[tuple[int, str]]()
    last, changed_at = 0, ""
    for entry in entries_from(account_id, 1):
        changed_at = max(changed_at, format_timestamp(entry.at))
        missing += ((number, changed_at) for number in range(last + 1, entry.number))
        last = entry.number
    at_end = max(changed_at, head.changed_at)
    missing += ((number, at_end) for number in range(last + 1, head.last + 1))
    _raise_head(account_id, last, changed_at)
    closed = sum(_close(account_id, number, at) for number, at in missing)
    marked = (entry for entry in entries_from(account_id, 1) if entry.numbers_rows)
    for group in in_groups(marked, _ENTRIES_AT_ONCE):
        retry_on_contention(partial(_remove_marks, account_id, group))
    return closed


def raise_head(account_id: str, last: int) -> None:
    """Raise the last number of an account to at least this number, and close the gap.

    One request; if the head is lower, one more, and one per number.
    """
    changed_at = format_timestamp(clock.now())
    before = _raise_head(account_id, last, changed_at)
    for number in range(before.last + 1, last + 1):
        _close(account_id, number, max(before.changed_at, changed_at))


def _raise_head(account_id: str, last: int, changed_at: str) -> Head:
    """Raise the last number of an account to at least this number. Return the head before it.

    Call this before you close gaps: otherwise, another process could use the number of a closed gap
    for an entry, and readers could have read the gap.
    """

    def attempt() -> Head:
        head = load_head(account_id)
        if head.last < last:
            row, at = FeedbackChangeRow(account_id, HEAD), max(head.changed_at, changed_at)
            actions = FeedbackChangeRow.changes(last=last, changed_at=at)
            unchanged = FeedbackChangeRow.has(last=head.last or None)
            if not try_write(lambda: row.update(actions, unchanged)):
                raise Contention(condition_failed=True)
        return head

    return retry_on_contention(attempt)


def _close(account_id: str, number: int, changed_at: str) -> bool:
    """Add an entry without ids. Return False if the entry exists. One request."""
    entry = {"account_id": account_id, "number": entry_key(number)}
    return create(FeedbackChangeRow, entry | {"changed_at": changed_at, "ids": []})


def _remove_marks(account_id: str, entries: Sequence[Entry]) -> None:
    """Remove the mark of the entries that are ahead of rows of their feedback.

    The transaction fails if a row changes, because then the entry was only visible before the row.
    """
    ids = list(dict.fromkeys(feedback_id for entry in entries for feedback_id in entry.ids))
    rows = read_together(*(Key(FeedbackRow, feedback_id) for feedback_id in ids))
    numbers = {row.feedback_id: row.entry_number for row in rows if row}
    for entry in entries:
        behind = [
            each for each in entry.ids if each in numbers and (numbers[each] or 0) < entry.number
        ]
        if behind:
            with transaction() as write:
                row = FeedbackChangeRow(account_id, entry_key(entry.number))
                write.update(row, FeedbackChangeRow.changes(numbers_rows=None))
                for each in behind:
                    unchanged = FeedbackRow.has(entry_number=numbers[each])
                    write.condition_check(Key(FeedbackRow, each), unchanged)
