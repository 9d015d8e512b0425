"""Stored feedback records: the feedback and the state of its record."""

from dataclasses import dataclass

from chalicelib.domain.feedback.feedback import Feedback, FeedbackState


@dataclass(frozen=True)
class StoredFeedback:
    """A feedback record loaded from the table.

    Attributes:
        input_hash: the hash of the request's input. It detects reuse of the idempotency key with
            different input. None if the request had no key.
        state: the state of processing.
        is_test: whether an operator marked the feedback as a test.
    """

    feedback: Feedback
    input_hash: str | None
    state: FeedbackState
    is_test: bool = False

    @property
    def is_counted(self) -> bool:
        """Whether the counts of the form and of the customer include the feedback."""
        return self.state is FeedbackState.DONE and not self.is_test
