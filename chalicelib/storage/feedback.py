"""The table of feedback records. Each row is also the work record for processing the feedback."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from chalicelib.domain.feedback.feedback import Feedback, FeedbackPointer, FeedbackState
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage import trackers
from chalicelib.storage.dynamodb import transactions
from chalicelib.storage.dynamodb.attributes import CompressedJsonAttribute
from chalicelib.storage.dynamodb.table import read_together
from chalicelib.storage.dynamodb.transactions import put_new
from chalicelib.storage.dynamodb.work_records import (
    WorkRecords,
    WorkRow,
    leave_index,
    pending_attributes,
)
from chalicelib.storage.trackers import TrackerRow

PART: Final = "feedback"
"""The value of the work record attribute ``part``. It is constant, as the table has no sort key."""


class FeedbackRow(WorkRow):
    """The table row of a feedback record, with the state of its processing."""

    class Meta:
        name = "feedback"

    feedback_id = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    form_id = UnicodeAttribute()
    document = CompressedJsonAttribute()
    input_hash = UnicodeAttribute(null=True)
    created_at = UnicodeAttribute()
    customer_id = UnicodeAttribute(null=True)
    part = PART

    def pointer(self, _now: datetime) -> FeedbackPointer:
        return FeedbackPointer(self.account_id, self.feedback_id)


WORK: Final[WorkRecords[FeedbackPointer]] = WorkRecords("feedback", FeedbackRow)
"""The work records of feedback."""


@dataclass(frozen=True)
class StoredFeedback:
    """A feedback record loaded from the table.

    Attributes:
        input_hash: the hash of the request's input. The hash detects reuse of the idempotency key
            with different input. None if the request had no key.
        state: the state of processing.
    """

    feedback: Feedback
    input_hash: str | None
    state: FeedbackState


def create(feedback: Feedback, input_hash: str | None) -> bool:
    """Add a feedback record. Return False if the id already exists."""
    return transactions.create(FeedbackRow, _attributes(feedback, input_hash))


def add(write: TransactWrite, feedback: Feedback, input_hash: str | None) -> None:
    """Add a feedback record in this transaction. The transaction fails if the id already exists."""
    put_new(write, FeedbackRow, _attributes(feedback, input_hash))


def find(feedback_id: str) -> StoredFeedback | None:
    """Load a feedback record. Return None if it does not exist. One consistent request."""
    return find_many([feedback_id]).get(feedback_id)


def find_many(feedback_ids: Collection[str]) -> dict[str, StoredFeedback]:
    """Load up to 100 feedback records by id, without missing ones. One consistent request."""
    rows = read_together(*((FeedbackRow, feedback_id) for feedback_id in feedback_ids))
    return {row.feedback_id: _stored(row) for row in rows if row}


def find_with_tracker(
    feedback_id: str, tracker_id: str
) -> tuple[StoredFeedback | None, Tracker | None]:
    """Load a feedback record and a tracker; None for a missing one. One consistent request."""
    row, tracker = read_together((FeedbackRow, feedback_id), (TrackerRow, tracker_id))
    return _stored(row) if row else None, trackers.build_tracker(tracker) if tracker else None


def finish(
    write: TransactWrite, feedback: Feedback, customer_id: str | None, now: datetime
) -> None:
    """Mark a feedback record as processed in this transaction.

    The transaction fails if the record is not pending.

    Args:
        customer_id: the id of the respondent's customer, or None if there is no such customer.
    """
    actions: list[Action] = [
        FeedbackRow.state.set(FeedbackState.DONE.value),
        FeedbackRow.ended_at.set(format_timestamp(now)),
        *leave_index(FeedbackRow),
    ]
    if customer_id:
        actions.append(FeedbackRow.customer_id.set(customer_id))
    write.update(FeedbackRow(feedback.id), actions=actions, condition=FeedbackRow.is_pending())


def _attributes(feedback: Feedback, input_hash: str | None) -> dict[str, Any]:
    return {
        "feedback_id": feedback.id,
        "account_id": feedback.account_id,
        "form_id": feedback.form_id,
        "document": feedback.model_dump_json().encode(),
        "input_hash": input_hash,
        "created_at": format_timestamp(feedback.created_at),
        "customer_id": feedback.customer_id,
        **pending_attributes(feedback.account_id, feedback.id, PART, feedback.created_at),
    }


def _stored(row: FeedbackRow) -> StoredFeedback:
    feedback = Feedback.model_validate_json(row.document)
    if row.customer_id != feedback.customer_id:
        feedback = feedback.model_copy(update={"customer_id": row.customer_id})
    return StoredFeedback(feedback, row.input_hash, FeedbackState(row.state))
