"""Mark feedback as tests, and delete it."""

from datetime import datetime

from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.feedback import FeedbackRow, is_unchanged


def set_test(
    write: Rows,
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
    marked = FeedbackRow.changes(is_test=is_test or None, marked_at=now, entry_number=entry_number)
    write.update(FeedbackRow(stored.feedback.id), marked, is_unchanged(stored))


def delete(write: Rows, stored: StoredFeedback) -> None:
    """Delete a feedback record in this transaction.

    The transaction fails if the record has changed since it was loaded.
    """
    write.delete(FeedbackRow(stored.feedback.id), condition=is_unchanged(stored))
