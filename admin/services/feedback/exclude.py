"""Exclude feedback from the counts: mark it as a test, or delete it."""

from admin.storage import excluded_feedback
from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.feedback.stored import StoredFeedback
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
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.dynamodb.unit_of_work import transaction
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

    def attempt() -> bool:
        stored = feedback.find(feedback_id)
        if stored is None:
            raise NotFound("feedback")
        if stored.state is not WorkState.DONE:
            raise Conflict(f"The feedback is {stored.state}. Mark it after it is processed.")
        if stored.is_test == is_test:
            return False
        _change(stored, by=-1 if is_test else 1)
        return True

    return retry_on_contention(attempt)


def delete_feedback(feedback_id: str, operator: str) -> bool:
    """Delete a feedback record. Return False if it does not exist.

    The statistics, and the counts of the account, the form and the customer, change in the same
    transaction, which also stores the change for the audit. Three AWS requests.

    Args:
        operator: the identity of the operator, for the audit.

    Raises:
        Unavailable: the database throttles, or contention persists. Nothing has changed.
    """

    def attempt() -> bool:
        stored = feedback.find(feedback_id)
        if stored is None:
            return False
        subject = f"feedback {feedback_id}"
        deletion = AccountChange(clock.now(), subject, operator, None, "deleted")
        _change(stored, deletion, by=-1 if stored.is_counted else 0)
        return True

    return retry_on_contention(attempt)


def _change(stored: StoredFeedback, deletion: AccountChange | None = None, *, by: int) -> None:
    """Delete or mark a record, and change its counts and the statistics, in one transaction.

    Args:
        deletion: the change for the audit if the record is deleted.
        by: 1 to include the record in the counts, -1 to exclude it, 0 to keep the counts.
    """
    record = stored.feedback
    counted_for = [(record.account_id, record.customer_id)] if by and record.customer_id else []
    heads, existing, _ = feedback_changes.load_heads_and_related([record.account_id], counted_for)
    now = clock.now()
    with transaction() as write:
        head = heads[record.account_id]
        number = feedback_changes.add(write, record.account_id, head, [record.id], now)
        if deletion:
            excluded_feedback.delete(write, stored)
            account_changes.add(write, record.account_id, [deletion])
        else:
            excluded_feedback.set_test(write, stored, number, now, is_test=by < 0)
        if by:
            TABLES[record.kind].count_submissions(write, record.form_id, by)
            counters.count(write, record.account_id, Counted.FEEDBACK, record.id, by)
            statistics.add(write, record.account_id, stored.numbers, by)
        for account_id, customer_id in existing:
            customers.count_feedback(
                write, account_id, customer_id, [record.rating], [record.source], now, by=by
            )
