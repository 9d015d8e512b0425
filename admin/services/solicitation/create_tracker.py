"""Create a tracker for a purchase. The survey link that a customer receives contains a tracker."""

from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.ids import new_id
from chalicelib.storage import purchases, trackers
from chalicelib.storage.forms import surveys


def create_tracker(
    account_id: str, survey_id: str, purchase_id: str, send_mode: str, tracker_id: str | None = None
) -> Tracker:
    """Create a tracker for a survey about a purchase.

    If a tracker with this id already exists, that tracker is not changed.

    Raises:
        NotFound: the account has no such survey or purchase.
    """
    survey = surveys.find(survey_id)
    if survey is None or survey.account_id != account_id:
        raise NotFound("survey")
    purchase = purchases.find(account_id, purchase_id)
    if purchase is None:
        raise NotFound("purchase")
    tracker = Tracker(
        id=tracker_id or new_id(),
        account_id=account_id,
        survey_id=survey_id,
        purchase_id=purchase_id,
        customer_id=purchase.customer_id,
        store_id=purchase.store_id,
        send_mode=send_mode,
        created_at=clock.now(),
    )
    trackers.create(tracker)
    return tracker
