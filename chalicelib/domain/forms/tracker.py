"""Trackers: each tracker allows one submission to a survey about one purchase."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Tracker:
    """A token that allows one submission to one survey.

    Attributes:
        send_mode: the channel through which the survey was sent: ``EMAIL``, ``SMS``, or ``LINK``
            if the partner delivers the link.
        used_at: the time of the submission; None before the submission.
        feedback_id: the id of the submitted feedback; None before the submission.
        counted_as: the key of the group in which the survey is counted as sent; None if it is not.
    """

    id: str
    account_id: str
    survey_id: str
    purchase_id: str
    customer_id: str | None
    store_id: str
    send_mode: str
    created_at: datetime
    used_at: datetime | None = None
    feedback_id: str | None = None
    counted_as: str | None = None

    @property
    def answered_on(self) -> datetime | None:
        """The day (UTC) of the submission as its midnight; None before the submission."""
        at = self.used_at
        return at and at.replace(hour=0, minute=0, second=0, microsecond=0)
