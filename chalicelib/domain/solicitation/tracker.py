"""Trackers: each lets one customer submit one survey about one purchase."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Tracker:
    """A token that accepts one submission to one survey.

    Attributes:
        send_mode: the channel that the survey was sent on: ``EMAIL`` or ``SMS``.
        used_at: the time of the submission, None before.
        feedback_id: the feedback of the submission, None before.
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
