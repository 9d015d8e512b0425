"""Build the invitation of a solicitation."""

from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.invitation import SurveyInvitation
from chalicelib.services.accounts.directory import account_directory
from chalicelib.services.accounts.settings import date_at_store
from chalicelib.services.solicitation.case import Case


def build_invitation(
    case: Case, survey: SavedSurvey, channel: Channel, tracker_id: str
) -> SurveyInvitation:
    """Return the invitation to answer this survey. The case must have a customer and a store."""
    facts = case.facts
    assert facts.recipient  # noqa: S101 - `decide` sends nothing without a recipient and a store
    assert facts.store  # noqa: S101
    contact = facts.recipient.contact(channel)
    assert contact  # noqa: S101 - `decide` chooses only channels that the customer can receive
    return SurveyInvitation(
        solicitation=case.solicitation,
        channel=channel,
        contact_key=contact.key,
        survey=survey,
        customer=facts.recipient.customer,
        store=facts.store,
        brand=account_directory(case.solicitation.account_id).brand(facts.store.brand_id or ""),
        purchase=facts.purchase,
        tracker_id=tracker_id,
        visited_on=date_at_store(case.solicitation.account_id, facts.store, facts.purchase.date),
    )
