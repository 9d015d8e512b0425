"""Stored feedback records: the feedback and the state of its record."""

from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.feedback.daily import Numbers, numbers_by_group
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.work import WorkState


@dataclass(frozen=True)
class StoredFeedback:
    """A feedback record loaded from the table.

    Attributes:
        input_hash: the hash of the request's input. It detects reuse of the idempotency key with
            different input. None if the request had no key.
        key_hash: the hash of the idempotency key of a submission with a tracker; None without a
            key.
        state: the state of processing.
        is_test: whether an operator marked the feedback as a test.
        changed_at: the time of the last change; None if the record was not changed.
        counted_as: the key of the group in which the statistics count the feedback. It stays the
            same after a change of the account's time zone. None before the feedback is processed.
        answered_as: the key of the group in which the statistics count the survey that it answers.
        entry_number: the number of the entry of the last change in the feed; 0 without an entry.
        is_open: whether the record is a saved tap that the respondent can still change or send.
    """

    feedback: Feedback
    input_hash: str | None
    state: WorkState
    is_test: bool = False
    changed_at: datetime | None = None
    counted_as: str | None = None
    answered_as: str | None = None
    entry_number: int = 0
    key_hash: str | None = None
    is_open: bool = False

    @property
    def updated_at(self) -> datetime:
        """The time of the last change."""
        return self.changed_at or self.feedback.created_at

    @property
    def is_counted(self) -> bool:
        """Whether the counts of the form and of the customer include the feedback."""
        return self.state is WorkState.DONE and not self.is_test

    @property
    def numbers(self) -> dict[str, Numbers]:
        """The numbers that statistics count for the feedback, by key of the group."""
        return numbers_by_group(self.feedback, self.counted_as, self.answered_as)
