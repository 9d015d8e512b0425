"""Return survey trackers, the partner view of solicitations, and cancel surveys."""

from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.paging import MAX_LIMIT
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.partner_view import (
    SurveyTracker,
    SurveyTrackerList,
    SurveyTrackerListRequest,
    survey_tracker,
    tracker_state,
)
from chalicelib.domain.solicitation.solicitation import Solicitation
from chalicelib.services.solicitation.case import surveys_of
from chalicelib.services.solicitation.links import shortest_link
from chalicelib.storage import solicitations, trackers
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.solicitations import SolicitationRow


def read_survey_tracker(
    account_id: str, purchase_id: str, *, with_link: bool = True
) -> SurveyTracker:
    """Return the survey tracker of a purchase. Two AWS requests; one if no survey was sent.

    Args:
        with_link: whether the caller may have the link, with which anyone answers as the customer.

    Raises:
        NotFound: the account has no such purchase.
    """
    found = solicitations.find_many_with_purchases(account_id, [purchase_id])
    if purchase_id not in found:
        raise NotFound("purchase")
    return load_view(*found[purchase_id], with_link=with_link)


def list_survey_trackers(
    account_id: str, request: SurveyTrackerListRequest, *, with_links: bool
) -> SurveyTrackerList:
    """Return a page of survey trackers, in the order of creation.

    Three AWS requests: the index, the solicitations with their purchases, and the trackers; one
    more if more than 50 surveys are examined. The index is eventually consistent. A filter that
    matches little returns a short page.

    Args:
        with_links: see `read_survey_tracker`.

    Raises:
        InvalidInput: the cursor is invalid.
    """
    after, customer_id = request.position(), request.customer_id
    at_most = MAX_LIMIT if request.state else request.limit
    positions, is_end = solicitations.list_page(account_id, after, at_most, customer_id)
    found = solicitations.find_many_with_purchases(account_id, [each for _, each in positions])
    if customer_id:
        # The id may be of another account's customer. The cursor must not contain that account's
        # surveys.
        positions = [position for position in positions if position[1] in found]
    shown: list[tuple[Solicitation, Purchase]] = []
    end = None
    for position in positions:
        loaded = found.get(position[1])
        if loaded and _matches(loaded[0], request):
            if len(shown) == request.limit:
                break
            shown.append(loaded)
        end = position
    found_trackers = trackers.find_many([each.tracker_id for each, _ in shown if each.tracker_id])
    items = tuple(
        view_of(
            solicitation,
            found_trackers.get(solicitation.tracker_id or ""),
            purchase,
            with_link=with_links,
        )
        for solicitation, purchase in shown
    )
    meta = request.page_meta(len(items), positions, end, is_end=is_end)
    return SurveyTrackerList(items=items, meta=meta)


def _matches(solicitation: Solicitation, request: SurveyTrackerListRequest) -> bool:
    return request.state in (None, tracker_state(solicitation)) and request.customer_id in (
        None,
        solicitation.customer_id,
    )


def cancel_survey(account_id: str, purchase_id: str) -> SurveyTracker:
    """Cancel the survey about a purchase: it is skipped, unless it was sent already.

    If a worker is sending the message at this moment, the survey is skipped only if the provider
    does not accept the message. A repeated call has no effect. Three AWS requests, and one more if
    a message was claimed.

    Raises:
        NotFound: the account has no such purchase.
        Unavailable: the database throttles, or contention persists.
    """

    def use_case(rows: Rows) -> None:
        key = Key(SolicitationRow, purchase_id)
        rows.prefetch(key)
        row = rows.get(key)
        if row is None or row.account_id != account_id:
            raise NotFound("purchase")
        if row.cancelled_at is None:
            solicitations.cancel(rows, row, clock.now())

    commit(use_case)
    return read_survey_tracker(account_id, purchase_id)


def load_view(
    solicitation: Solicitation, purchase: Purchase, *, with_link: bool = True
) -> SurveyTracker:
    """Return the partner view of a solicitation. One AWS request; none without a tracker."""
    tracker = trackers.find(solicitation.tracker_id) if solicitation.tracker_id else None
    return view_of(solicitation, tracker, purchase, with_link=with_link)


def view_of(
    solicitation: Solicitation,
    tracker: Tracker | None,
    purchase: Purchase,
    *,
    with_link: bool = True,
) -> SurveyTracker:
    """Return the partner view of a solicitation. No AWS request if the surveys are cached."""
    link, is_linked = None, solicitation.channel is SendMode.LINK
    if with_link and is_linked and tracker and not tracker.used_at:
        link = _link_to(solicitation.account_id, tracker)
    return survey_tracker(solicitation, purchase, tracker, link)


def _link_to(account_id: str, tracker: Tracker) -> str | None:
    """Return the link to a tracker, or None if its survey cannot be answered."""
    now = clock.now()
    can_be_answered = any(
        survey.id == tracker.survey_id and survey.opening_at(now).is_open
        for survey in surveys_of(account_id)
    )
    return shortest_link(tracker.survey_id, tracker.id) if can_be_answered else None
