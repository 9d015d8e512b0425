"""Trackers: the link that one customer gets to one survey about one purchase."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Tracker:
    """Leads one customer to one survey; it takes one submission.

    Attributes:
        send_mode: how the survey was sent: ``EMAIL`` or ``SMS``.
        used_at: when its submission came, None before.
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
