"""Record the survey about a purchase, before its message is sent or its link is returned.

A reminder has a scope of its own, so that it does not extend the delay until the next survey.
"""

from collections.abc import Iterable

from chalicelib.domain.feedback.daily import DailyGroup, day_of
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.forms.survey import SavedSurvey, SendMode
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.contact import REMINDER_SCOPE, scopes_of
from chalicelib.services.solicitation.case import Case
from chalicelib.storage import contacts, solicitations, trackers
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.purchases import purchase_key
from chalicelib.storage.solicitations import SolicitationRow
from chalicelib.storage.trackers import TrackerRow


def tracker_of(case: Case, survey: SavedSurvey, channel: SendMode) -> Tracker:
    """Build the tracker of a survey. If an earlier claim was not sent, the tracker keeps its id.

    The case must have a store.
    """
    solicitation, facts = case.solicitation, case.facts
    group = DailyGroup(
        day_of(facts.now, facts.account_time_zone),
        FormKind.SURVEY,
        survey.id,
        facts.store.brand_id if facts.store else None,
        facts.purchase.store_id,
    )
    return Tracker(
        id=solicitation.tracker_id or new_id(),
        account_id=solicitation.account_id,
        survey_id=survey.id,
        purchase_id=facts.purchase.id,
        customer_id=facts.recipient.customer.id if facts.recipient else None,
        store_id=facts.purchase.store_id,
        send_mode=channel.value,
        created_at=facts.now,
        counted_as=group.key,
    )


def record_survey(rows: Rows, case: Case, tracker: Tracker) -> None:
    """Store a tracker, and the survey for all contacts of the customer, in this unit of work.

    The unit relies on the purchase, and on the contacts.
    """
    trackers.put(rows, tracker, is_new=case.solicitation.tracker_id is None)
    rows.get(purchase_key(tracker.account_id, tracker.purchase_id))
    store = case.facts.store
    brand_id = store.brand_id if store else None
    _record(rows, case, scopes_of(tracker.store_id, brand_id, tracker.survey_id).values())


def record_reminder(rows: Rows, case: Case, tracker_id: str) -> SolicitationRow | None:
    """Store a reminder for all contacts of the customer. Return the row of its survey.

    The unit relies on the survey, which must not be answered, cancelled or erased, and on the
    contacts.
    """
    survey = solicitations.rely_on_survey(rows, case.solicitation)
    rows.get(Key(TrackerRow, tracker_id), TrackerRow.used_at, TrackerRow.tapped_at)
    _record(rows, case, [REMINDER_SCOPE])
    return survey


def _record(rows: Rows, case: Case, scopes: Iterable[str]) -> None:
    facts = case.facts
    if facts.recipient:
        contacts.record_solicitation(
            rows,
            case.solicitation.account_id,
            facts.recipient.contacts,
            scopes,
            facts.purchase.id,
            facts.now,
        )
