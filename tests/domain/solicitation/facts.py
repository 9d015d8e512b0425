"""Build facts of a purchase for which a survey is sent now, and change single facts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.domain.accounts.places import Place, PlaceKind
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.contact import Contact, Solicited
from chalicelib.domain.solicitation.decide import Facts, Recipient
from tests.domain.forms import factories as forms

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
SECOND = timedelta(seconds=1)
DAY_S = 24 * 3600
PURCHASE = "90000000-0000-4000-8000-000000000001"
OTHER_PURCHASE = "90000000-0000-4000-8000-000000000002"
CUSTOMER = "c0000000-0000-4000-8000-000000000001"
SURVEY = "70000000-0000-4000-8000-000000000001"
SECOND_SURVEY = "70000000-0000-4000-8000-000000000002"
STORE = Place(id=forms.STORE, kind=PlaceKind.STORE, name="Lyon", brand_id=forms.BRAND)


def survey(survey_id: str = SURVEY, *targets: dict[str, Any], **fields: Any) -> SavedSurvey:
    """Build an enabled survey for the store. Its channels are e-mail, then SMS."""
    definition = {
        "id": survey_id,
        "enabled": True,
        "targets": list(targets) or [target(forms.STORE)],
        "sendingChannels": ["EMAIL", "SMS"],
        "solicitationThreshold": 7 * DAY_S,
        "resolicitationDelay": 30 * DAY_S,
        "resolicitationMode": "ACCOUNT",
        **fields,
    }
    return forms.saved_survey(**definition)


def target(place_id: str, kind: str = "STORE", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "targetId": place_id, "enabled": True, **fields}


def purchase(**fields: Any) -> Purchase:
    """Build a purchase that was made an hour ago."""
    values = {
        "id": PURCHASE,
        "created_at": NOW,
        "updated_at": NOW,
        "store_id": forms.STORE,
        "date": NOW - timedelta(hours=1),
        "external_id": "1",
        "source": DataSource("Site"),
        "customer_id": CUSTOMER,
        **fields,
    }
    dates = dict.fromkeys(("start_date", "end_date"), values["date"])
    return Purchase(**(dates | values))


def customer(**fields: Any) -> Customer:
    """Build a customer who accepts messages on both channels."""
    values: dict[str, Any] = {
        "id": CUSTOMER,
        "created_at": NOW,
        "updated_at": NOW,
        "email": "zoe@example.test",
        "phone_number": "+33612345678",
        "email_optin": True,
        "sms_optin": True,
        **fields,
    }
    return Customer(**values)


def recipient(*, phone_number: str | None = "+33612345678", **fields: Any) -> Recipient:
    """Build a recipient from the fields of a customer."""
    person = customer(**fields)
    return Recipient(
        person,
        record=Contact("record"),
        email=Contact("email") if person.email else None,
        phone=Contact("phone") if person.phone_number else None,
        phone_number=phone_number if person.phone_number else None,
        text_countries=frozenset({"FR"}),
    )


def facts(**fields: Any) -> Facts:
    values: dict[str, Any] = {
        "now": NOW,
        "purchase": purchase(),
        "is_requested": True,
        "processed_at": None,
        "store": STORE,
        "surveys": [survey()],
        "recipient": recipient(),
        **fields,
    }
    return Facts(**values)


def with_contact(kind: str, **fields: Any) -> Recipient:
    """Build a recipient with one contact that has these fields."""
    person = recipient()
    return replace(person, **{kind: replace(getattr(person, kind), **fields)})


def solicited(scope: str, ago: timedelta, by: str = OTHER_PURCHASE) -> dict[str, Solicited]:
    return {scope: Solicited(NOW - ago, by)}
