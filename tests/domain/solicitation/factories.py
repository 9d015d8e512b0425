"""Build survey invitations."""

from dataclasses import replace
from typing import Any

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.invitation import SurveyInvitation
from chalicelib.domain.solicitation.links import DEFAULT_SURVEY_LINK, short_link, survey_link
from chalicelib.domain.solicitation.mail_content import MailContent, MailLinks, mail_content
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationState
from tests.domain.forms.factories import BRAND, DIRECTORY, NOW, STORE, saved_survey

BASE_URL = "https://api.example.com/prod"
TRACKER = "7ac00000-0000-4000-8000-000000000001"
ACCOUNT = "acc00000-0000-4000-8000-000000000001"


def invitation(
    *, customer: dict[str, Any] | None = None, channel: Channel = Channel.EMAIL, **survey: Any
) -> SurveyInvitation:
    """Return an invitation to a survey with these properties."""
    person = {"email": "zoe@example.com", "first_name": "Zoé"} | (customer or {})
    purchase = Purchase(
        id="501c0000-0000-4000-8000-000000000001",
        created_at=NOW,
        updated_at=NOW,
        store_id=STORE,
        date=NOW,
        start_date=NOW,
        end_date=NOW,
        external_id="A-1",
        source="Lightspeed",
    )
    return SurveyInvitation(
        solicitation=Solicitation(
            id=purchase.id,
            account_id=ACCOUNT,
            source=purchase.source.value,
            external_id=purchase.external_id,
            customer_id=purchase.customer_id,
            is_requested=True,
            created_at=NOW,
            state=SolicitationState.PENDING,
        ),
        channel=channel,
        contact_key="contact",
        survey=saved_survey(**survey),
        customer=Customer(id=TRACKER, created_at=NOW, updated_at=NOW, **person),
        store=DIRECTORY.store(STORE),
        brand=DIRECTORY.brand(BRAND),
        purchase=purchase,
        tracker_id=TRACKER,
        visited_on=NOW.date(),
    )


def links_of(sent: SurveyInvitation) -> MailLinks:
    """Return the links to pages of the service."""
    return MailLinks(
        survey=survey_link(
            DEFAULT_SURVEY_LINK,
            base_url=BASE_URL,
            survey_id=sent.survey.id,
            tracker_id=sent.tracker_id,
        ),
        short=short_link(BASE_URL, sent.tracker_id),
        unsubscribe=f"{BASE_URL}/public/unsubscribe?token=t",
    )


def content(
    place: str = "Maison Lumen", *, is_own_page: bool = True, **properties: Any
) -> MailContent:
    """Return the mail content of an invitation from a brand with this name."""
    sent = invitation(**properties)
    assert sent.brand
    sent = replace(sent, brand=sent.brand.model_copy(update={"name": place}))
    return mail_content(sent, replace(links_of(sent), is_own_page=is_own_page))
