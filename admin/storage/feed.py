"""Repair the feeds of accounts after a restore.

A restore reads each row as of almost the same time, but not the rows of a transaction together.
Entries can therefore be missing, and the head of an account or the rows of feedback can be older or
newer than the last entry. The repairs are safe while the service changes the feed.
"""

from functools import partial
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.paging import in_groups
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.conditional_writes import create
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.feedback_changes import (
    Entry,
    FeedbackChangeRow,
    entries_from,
    entry_key,
    head_key,
)

_ENTRIES_AT_ONCE: Final = 5


def repair(account_id: str) -> int:
    """Close the gaps between an account's entries, and correct its head. Return the number of gaps.

    Remove the mark of entries that are ahead of the rows of their feedback, so that no reader waits
    for these rows. About one request per 350 entries, one per 100 records of marked entries, and
    one per gap.
    """
    missing = list[tuple[int, str]]()
    last, changed_at = 0, ""
    for entry in entries_from(account_id, 1):
        changed_at = max(changed_at, format_timestamp(entry.at))
        missing += ((number, changed_at) for number in range(last + 1, entry.number))
        last = entry.number
    head_last, head_changed_at = raise_last(account_id, last, changed_at)
    at_end = max(changed_at, head_changed_at)
    missing += ((number, at_end) for number in range(last + 1, head_last + 1))
    closed = sum(_close(account_id, number, at) for number, at in missing)
    marked = (entry for entry in entries_from(account_id, 1) if entry.numbers_rows)
    for group in in_groups(marked, _ENTRIES_AT_ONCE):
        read = Rows()
        read.prefetch(*(Key(FeedbackRow, each) for entry in group for each in entry.ids))
        for entry in group:
            commit(partial(_remove_mark, account_id, entry), read=read)
    return closed


def raise_head(account_id: str, last: int) -> None:
    """Raise the last number of an account to at least this number, and close the gap.

    One request; if the head is lower, one more, and one per number.
    """
    changed_at = format_timestamp(clock.now())
    before, before_at = raise_last(account_id, last, changed_at)
    for number in range(before + 1, last + 1):
        _close(account_id, number, max(before_at, changed_at))


def raise_last(account_id: str, last: int, changed_at: str) -> tuple[int, str]:
    """Raise the last number of an account to at least this number.

    Return the number and the time of the head before it. Call this before you close gaps:
    otherwise, another process could use the number of a closed gap for an entry, and readers could
    have read the gap.
    """

    def use_case(rows: Rows) -> tuple[int, str]:
        key = head_key(account_id)
        rows.prefetch(key)
        before, head = rows.value(key, FeedbackChangeRow.last) or 0, rows.known(key)
        before_at = (head and head.changed_at) or ""
        if before < last:
            rows.set(key, FeedbackChangeRow.last, last)
            rows.set(key, FeedbackChangeRow.changed_at, max(before_at, changed_at))
        return before, before_at

    return commit(use_case)


def _close(account_id: str, number: int, changed_at: str) -> bool:
    """Add an entry without ids. Return False if the entry exists. One request."""
    row = Key(FeedbackChangeRow, account_id, entry_key(number)).row()
    row.changed_at, row.ids = changed_at, []
    return create(row)


def _remove_mark(account_id: str, entry: Entry, rows: Rows) -> None:
    """Remove the mark of an entry that is ahead of rows of its feedback.

    The unit of work relies on these rows: if one of them changes, the entry was only visible before
    the row.
    """
    keys = [Key(FeedbackRow, each) for each in entry.ids]
    rows.prefetch(*keys)
    behind = [
        key for key in keys if (row := rows.known(key)) and (row.entry_number or 0) < entry.number
    ]
    for key in behind:
        rows.value(key, FeedbackRow.entry_number)
    if behind:
        marked = Key(FeedbackChangeRow, account_id, entry_key(entry.number))
        rows.set(marked, FeedbackChangeRow.numbers_rows, None)
