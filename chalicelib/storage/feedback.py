"""The table of feedback. Each is a record of work too, until everything that follows was done."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from chalicelib.domain.feedback.feedback import Feedback, FeedbackPointer, FeedbackState
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.tracker import Tracker
from chalicelib.storage import trackers
from chalicelib.storage.dynamodb import transactions
from chalicelib.storage.dynamodb.compressed_json import CompressedJsonAttribute, compress
from chalicelib.storage.dynamodb.table import Plain, read_together
from chalicelib.storage.dynamodb.transactions import put_new
from chalicelib.storage.dynamodb.work_records import WorkRecords, WorkRow, ended, open_columns
from chalicelib.storage.trackers import TrackerRow

PART: Final = "feedback"
"""The name of a feedback's only part."""


class FeedbackRow(WorkRow):
    """A feedback, and how far the work on it has come."""

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
"""The work that follows from feedback."""


@dataclass(frozen=True)
class StoredFeedback:
    """A feedback as it is kept.

    Attributes:
        input_hash: tells the same input under the same idempotency key from another.
    """

    feedback: Feedback
    input_hash: str | None
    state: FeedbackState


def create(feedback: Feedback, input_hash: str | None) -> bool:
    """Keeps a new feedback; False, and nothing changed, when its id is already there."""
    return transactions.create(FeedbackRow, _columns(feedback, input_hash))


def add(write: TransactWrite, feedback: Feedback, input_hash: str | None) -> None:
    """Keeps a new feedback in this transaction, which fails when its id is already there."""
    put_new(write, FeedbackRow, _columns(feedback, input_hash))


def find(feedback_id: str) -> StoredFeedback | None:
    """The feedback with this id, or None. One request."""
    return find_many([feedback_id]).get(feedback_id)


def find_many(feedback_ids: Collection[str]) -> dict[str, StoredFeedback]:
    """The feedback with these ids, at most 100, as it is now. One request."""
    rows = read_together(*((FeedbackRow, feedback_id) for feedback_id in feedback_ids))
    return {row.feedback_id: _kept(row) for row in rows if row}


def find_with_tracker(
    feedback_id: str, tracker_id: str
) -> tuple[StoredFeedback | None, Tracker | None]:
    """The feedback and the tracker with these ids, as they are now. One request."""
    row, tracker = read_together((FeedbackRow, feedback_id), (TrackerRow, tracker_id))
    return _kept(row) if row else None, trackers.tracker_of(tracker) if tracker else None


def finish(
    write: TransactWrite, feedback: Feedback, customer_id: str | None, now: datetime
) -> None:
    """Marks the feedback done in this transaction, which fails if it already is."""
    actions: list[Action] = [
        FeedbackRow.state.set(FeedbackState.DONE.value),
        FeedbackRow.ended_at.set(format_timestamp(now)),
        *ended(FeedbackRow),
    ]
    if customer_id:
        actions.append(FeedbackRow.customer_id.set(customer_id))
    write.update(FeedbackRow(feedback.id), actions=actions, condition=FeedbackRow.is_pending())


def _columns(feedback: Feedback, input_hash: str | None) -> Plain:
    columns: Plain = {
        "feedback_id": feedback.id,
        "account_id": feedback.account_id,
        "form_id": feedback.form_id,
        "document": compress(feedback.model_dump_json().encode()),
        "created_at": format_timestamp(feedback.created_at),
        **open_columns(feedback.account_id, feedback.id, PART, feedback.created_at),
    }
    if input_hash:
        columns["input_hash"] = input_hash
    if feedback.customer_id:
        columns["customer_id"] = feedback.customer_id
    return columns


def _kept(row: FeedbackRow) -> StoredFeedback:
    feedback = Feedback.model_validate_json(row.document)
    if row.customer_id != feedback.customer_id:
        feedback = feedback.model_copy(update={"customer_id": row.customer_id})
    return StoredFeedback(feedback, row.input_hash, FeedbackState(row.state))
