"""Find the surveys that were sent in a period."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from admin.storage import solicitations
from chalicelib.domain.paging import in_groups
from chalicelib.storage import purchases, trackers

_READ_AT_ONCE: Final = 100


@dataclass(frozen=True)
class SentSurvey:
    """A survey that was sent to a customer.

    Attributes:
        store_id: the current store of the purchase, also if the purchase moved to this store after
            the survey was sent; None if the purchase no longer exists.
        is_answered: whether the customer has answered the survey, at any time until now.
    """

    survey_id: str
    store_id: str | None
    sent_at: datetime
    is_answered: bool = False


def find_sent_surveys(
    account_id: str,
    since: datetime,
    until: datetime,
    *,
    survey_id: str | None = None,
    on_read: Callable[[int], None] = lambda _: None,
) -> Iterator[SentSurvey]:
    """Yield the surveys that the account sent in a period, in constant memory.

    AWS requests: one per MB of the account's solicitations that were created before the end of the
    period (about 2,500), and two per 100 surveys that were sent. Surveys of erased customers are
    omitted: an erasure deletes the tracker, so nothing tells whether they were answered.

    Args:
        until: the end of the period; surveys that were sent at this time are omitted.
        survey_id: the id of the only survey to find. Default: all surveys.
        on_read: called after each group of surveys that was read, with the number of its surveys.
    """
    sent = (
        (found.id, found.survey_id, found.sent_at, found.tracker_id)
        for found in solicitations.list_sent(account_id, since, until)
        if found.survey_id
        and found.sent_at
        and found.tracker_id
        and survey_id in (None, found.survey_id)
    )
    for group in in_groups(sent, _READ_AT_ONCE):
        stores = purchases.find_stores(account_id, [purchase_id for purchase_id, *_ in group])
        found = trackers.find_many([tracker_id for *_, tracker_id in group])
        for purchase_id, survey, sent_at, tracker_id in group:
            if tracker := found.get(tracker_id):
                is_answered = tracker.used_at is not None
                yield SentSurvey(survey, stores.get(purchase_id), sent_at, is_answered)
        on_read(len(group))
