"""Mark feedback as tests, and delete it."""

from datetime import datetime

from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.feedback import FeedbackRow, rely_on


def set_test(
    rows: Rows,
    stored: StoredFeedback,
    entry_number: int,
    now: datetime,
    *,
    is_test: bool,
) -> None:
    """Mark a feedback record as a test, or remove the mark, in this transaction.

    The transaction fails if the record has changed since it was loaded.

    Args:
        entry_number: the number of the entry in the feed.
    """
    key = rely_on(rows, stored)
    rows.set(key, FeedbackRow.is_test, is_test or None)
    rows.set(key, FeedbackRow.marked_at, now)
    rows.set(key, FeedbackRow.entry_number, entry_number)


def delete(rows: Rows, stored: StoredFeedback) -> None:
    """Delete a feedback record in this transaction.

    The transaction fails if the record has changed since it was loaded.
    """
    rows.remove(rely_on(rows, stored))
