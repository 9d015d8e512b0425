"""Trackers: each tracker allows one submission to a survey about one purchase."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple


class Save(NamedTuple):
    """One save of tapped answers.

    Attributes:
        view: the hash of the id of the page view that sent it.
        sequence: its number; a later save of the same page view has a higher one.
        rating: the rating of the answers, 0 to 10; None if there is none.
    """

    view: str
    sequence: int
    rating: int | None


@dataclass(frozen=True)
class Tracker:
    """A token that allows one submission to one survey.

    Attributes:
        send_mode: the channel through which the survey was sent: ``EMAIL``, ``SMS``, or ``LINK``
            if the partner delivers the link.
        used_at: the time of the submission; None before the submission.
        feedback_id: the id of the submitted feedback; None before the submission.
        counted_as: the key of the group in which the survey is counted as sent; None if it is not.
        tapped_at: the time at which the respondent tapped the answers that are saved, or followed
            an offer; None otherwise. Then, no reminder is sent.
        saves: the saves before the submission, the oldest first.
        labels: the labels of the link that a partner delivers.
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
    tapped_at: datetime | None = None
    saves: tuple[Save, ...] = ()
    labels: Mapping[str, str] | None = None

    @property
    def answered_on(self) -> datetime | None:
        """The day (UTC) of the submission or the saved tap as its midnight; None without them."""
        at = self.used_at or (self.tapped_at if self.saves else None)
        return at and at.replace(hour=0, minute=0, second=0, microsecond=0)
