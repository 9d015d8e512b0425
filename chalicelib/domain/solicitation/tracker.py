"""Trackers: one customer's link to one survey about one purchase."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Tracker:
    """A link that lets one customer answer one survey once.

    Attributes:
        send_mode: the channel that the survey was sent through: ``EMAIL`` or ``SMS``.
        used_at: the time of its submission, or None.
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
