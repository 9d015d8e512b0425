"""Show partners what became of surveys, and cancel surveys."""

from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.solicitation.partner_view import SurveyTracker, survey_tracker
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationPointer
from chalicelib.storage import solicitations, trackers
from chalicelib.storage.dynamodb.transactions import retry_on_contention


def read_survey_tracker(account_id: str, purchase_id: str) -> SurveyTracker:
    """Return what became of the survey about a purchase. Two AWS requests; one without a tracker.

    Raises:
        NotFound: the account has no such purchase.
    """
    return _view(*_load(account_id, purchase_id))


def cancel_survey(account_id: str, purchase_id: str) -> SurveyTracker:
    """Cancel the survey about a purchase: it is skipped, unless it was sent already.

    If a worker is sending the message at this moment, the survey is skipped only if the provider
    does not accept the message. A repeated call has no effect. Two AWS requests, and one more if a
    survey was chosen.

    Raises:
        NotFound: the account has no such purchase.
        Unavailable: the database throttles, or contention persists.
    """

    def attempt() -> None:
        solicitation, _ = _load(account_id, purchase_id)
        if solicitation.cancelled_at is None:
            solicitations.cancel(solicitation, clock.now())

    retry_on_contention(attempt)
    return read_survey_tracker(account_id, purchase_id)


def _load(account_id: str, purchase_id: str) -> tuple[Solicitation, str]:
    pointer = SolicitationPointer(account_id, purchase_id, None)
    solicitation, store_id = solicitations.find_with_store(pointer)
    if solicitation is None or store_id is None:
        raise NotFound("purchase")
    return solicitation, store_id


def _view(solicitation: Solicitation, store_id: str) -> SurveyTracker:
    tracker = trackers.find(solicitation.tracker_id) if solicitation.tracker_id else None
    return survey_tracker(solicitation, store_id, tracker)
