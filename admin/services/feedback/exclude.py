"""Exclude feedback from the counts: mark it as a test, or delete it."""

from datetime import datetime
from functools import partial

from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.work import WorkState
from chalicelib.storage import (
    account_changes,
    counters,
    customers,
    feedback,
    feedback_changes,
    statistics,
)
from chalicelib.storage.counters import Counted
from chalicelib.storage.customers import customer_key
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.forms import TABLES


def mark_test(feedback_id: str, *, is_test: bool) -> bool:
    """Mark a feedback record as a test, or remove the mark. Return False if nothing changes.

    The statistics, and the counts of the account, the form and the customer, change in the same
    transaction. Three AWS requests.

    Raises:
        NotFound: the feedback record does not exist.
        Conflict: the record is not processed yet, so that the counts do not include it.
        Unavailable: the database throttles, or contention persists. Nothing has changed.
    """
    return commit(partial(_mark, feedback_id, is_test))


def delete_feedback(feedback_id: str, operator: str) -> bool:
    """Delete a feedback record. Return False if it does not exist.

    The statistics, and the counts of the account, the form and the customer, change in the same
    transaction, which also stores the change for the audit. Three AWS requests.

    Args:
        operator: the identity of the operator, for the audit.

    Raises:
        Unavailable: the database throttles, or contention persists. Nothing has changed.
    """
    return commit(partial(_delete, feedback_id, operator))


def _mark(feedback_id: str, is_test: bool, rows: Rows) -> bool:
    row = _fetch(rows, feedback_id)
    if row is None:
        raise NotFound("feedback")
    if row.state != WorkState.DONE:
        raise Conflict(f"The feedback is {row.state}. Mark it after it is processed.")
    if bool(row.is_test) == is_test:
        return False
    now = clock.now()
    row.entry_number = _change(rows, row, now, by=-1 if is_test else 1)
    row.is_test, row.marked_at = is_test or None, now
    return True


def _delete(feedback_id: str, operator: str, rows: Rows) -> bool:
    row, now = _fetch(rows, feedback_id), clock.now()
    if row is None:
        return False
    deletion = AccountChange(now, f"feedback {feedback_id}", operator, None, "deleted")
    account_changes.add(rows, row.account_id, [deletion])
    is_counted = feedback.build_stored(row).is_counted
    _change(rows, row, now, by=-1 if is_counted else 0)
    rows.remove(row.own_key())
    return True


def _fetch(rows: Rows, feedback_id: str) -> FeedbackRow | None:
    key = Key(FeedbackRow, feedback_id)
    rows.prefetch(key)
    row = rows.known(key)
    return None if row is None or row.is_open else row


def _change(rows: Rows, row: FeedbackRow, now: datetime, *, by: int) -> int:
    """Change the counts of a record and the statistics. Return the number of the feed's entry.

    Args:
        by: 1 to include the record in the counts, -1 to exclude it, 0 to keep the counts.
    """
    feedback.rely_on(rows, row)
    account_id, stored = row.account_id, feedback.build_stored(row)
    record = stored.feedback
    customer = customer_key(account_id, record.customer_id) if by and record.customer_id else None
    rows.prefetch(feedback_changes.head_key(account_id), *([customer] if customer else ()))
    if by:
        TABLES[record.kind].count_submissions(rows, record.form_id, by)
        counters.count(rows, account_id, Counted.FEEDBACK, record.id, by)
        statistics.add(rows, account_id, stored.numbers, by)
    if customer and rows.peek(customer, because="the count requires the customer"):
        customers.count_feedback(rows, customer, record.rating, record.source, now, by=by)
    return feedback_changes.add(rows, account_id, [record.id], now)
