"""Give a partner the link to the survey about a purchase: ``POST /partners/survey-tracker``."""

from collections.abc import Mapping
from dataclasses import replace

from chalicelib.domain.errors import Conflict, InvalidInput, NotFound
from chalicelib.domain.forms.labels import label_errors
from chalicelib.domain.forms.survey import SavedSurvey, SendMode
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.decide import SkipReason, decide_link
from chalicelib.domain.solicitation.partner_view import SurveyTracker
from chalicelib.domain.solicitation.solicitation import (
    Solicitation,
    SolicitationPointer,
    SolicitationState,
)
from chalicelib.services.solicitation.case import Case, load_case
from chalicelib.services.solicitation.record_survey import record_survey, tracker_of
from chalicelib.services.solicitation.survey_trackers import load_view, view_of
from chalicelib.storage import solicitations
from chalicelib.storage.dynamodb.unit_of_work import Contention, Rows, commit


class NoLink(Conflict):
    """There is no link to the survey about a purchase."""

    code = "no_link"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"There is no link to a survey about this purchase: {reason}.")


def link_survey(account_id: str, purchase_id: str, labels: Mapping[str, str] = {}) -> SurveyTracker:
    """Return the link to the survey about a purchase. A repeated call returns the same link.

    The link replaces the message: the solicitation ends with the outcome SENT and the channel
    LINK. Four AWS requests; two without a customer.

    Args:
        labels: the labels of the feedback. A repeated call does not change them.

    Raises:
        InvalidInput: the survey does not declare or allow a label.
        NotFound: the account has no such purchase.
        NoLink: a message was sent, or a rule prevents the survey at this time.
        Unavailable: the database throttles, or contention persists.
    """
    pointer = SolicitationPointer(account_id, purchase_id, None)

    def use_case(rows: Rows) -> tuple[Solicitation, Tracker | None, Purchase]:
        case = load_case(rows, pointer)
        if case is None:
            raise NotFound("purchase")
        if case.solicitation.channel is SendMode.LINK:
            return case.solicitation, None, case.facts.purchase
        return *_link(rows, case, labels), case.facts.purchase

    solicitation, tracker, purchase = commit(use_case)
    if tracker is None:
        return load_view(solicitation, purchase)
    return view_of(solicitation, tracker, purchase)


def _link(rows: Rows, case: Case, labels: Mapping[str, str]) -> tuple[Solicitation, Tracker]:
    """Store the link. Return the solicitation with its new outcome, and the tracker of the link.

    Raises:
        InvalidInput: the survey does not declare or allow a label.
        NoLink: a message was sent, or a rule prevents the survey at this time.
        Contention: a fact has changed since it was read.
    """
    facts = case.facts
    survey = _survey_to_link(case)
    if not isinstance(survey, SavedSurvey):
        # The facts were read in several requests. In between, a concurrent request may have stored
        # the same link.
        if solicitations.find(case.solicitation.id) != case.solicitation:
            raise Contention
        raise NoLink(survey)
    if errors := label_errors(survey.labels, labels):
        raise InvalidInput(errors)
    if case.is_answered:
        # The customer answered a message whose outcome was unknown.
        raise NoLink(SkipReason.ALREADY_SOLICITED)
    tracker = replace(tracker_of(case, survey, SendMode.LINK), labels=labels or None)
    solicitations.link(rows, case.row, tracker, facts.now)
    record_survey(rows, case, tracker)
    return solicitations.build_solicitation(case.row), tracker


def _survey_to_link(case: Case) -> SavedSurvey | str:
    """Return the survey that the link opens, or the reason for which there is no link."""
    solicitation = case.solicitation
    if not solicitation.can_be_linked:
        if solicitation.state is SolicitationState.PENDING:
            return "SENDING"
        is_skipped = solicitation.state is SolicitationState.SKIPPED
        return solicitation.reason if is_skipped else solicitation.state.value
    if solicitation.customer_id and case.facts.recipient is None:
        return SkipReason.ERASED
    decision = decide_link(case.facts)
    return decision if isinstance(decision, SavedSurvey) else decision.reason
