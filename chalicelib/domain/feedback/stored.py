"""Stored feedback records: the feedback and the state of its record."""

from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.feedback.feedback import Feedback, FeedbackState


@dataclass(frozen=True)
class StoredFeedback:
    """A feedback record loaded from the table.

    Attributes:
        input_hash: the hash of the request's input. It detects reuse of the idempotency key with
            different input. None if the request had no key.
        state: the state of processing.
        is_test: whether an operator marked the feedback as a test.
        changed_at: the time of the last change; None if the record was not changed.
    """

    feedback: Feedback
    input_hash: str | None
    state: FeedbackState
    is_test: bool = False
    changed_at: datetime | None = None

    @property
    def updated_at(self) -> datetime:
        """The time of the last change."""
        return self.changed_at or self.feedback.created_at

    @property
    def is_counted(self) -> bool:
        """Whether the counts of the form and of the customer include the feedback."""
        return self.state is FeedbackState.DONE and not self.is_test
