"""Create the account that the benchmarks read: realistic customers, forms and a purchase."""

from dataclasses import dataclass
from typing import Any, Final

from benchmarks.sample_account_id import ACCOUNT_ID
from chalicelib.domain.ids import derived_id
from chalicelib.services.accounts.manage import create_account, issue_key
from chalicelib.services.accounts.save_places import save_brand, save_store
from chalicelib.services.customers.save import save_customer
from chalicelib.services.forms.save import save_contact_form, save_survey
from chalicelib.services.purchases.record import record_purchase

CUSTOMERS: Final = 100
FORMS: Final = 10
STORES: Final = 12

_PEOPLE: Final = (
    ("Zoé", "Martin", "fr"),
    ("Łukasz", "Wiśniewski", "pl"),
    ("María José", "García Ortiz", "es"),
    ("さくら", "田中", "ja"),
    ("Noor", "van den Berg", "nl"),
    ("James", "O'Connor", "en"),
)
_IMAGE: Final = {
    "contentType": "image/png",
    "url": "https://cdn.example.com/lumen/logo.png",
    "size": 18432,
    "width": 640,
    "height": 240,
    "originalname": "logo.png",
    "sourceUrl": "https://www.example.com/assets/logo.png",
    "externalId": "img-2041",
    "key": "forms/lumen/logo.png",
}
_FONT: Final = {"name": "Inter", "url": "https://fonts.example.com/inter.css"}
_COLOURS: Final = {
    "titleColor": "#12343b",
    "subtitleColor": "#52606d",
    "groupColor": "#0b7285",
    "textColor": "#323f4b",
    "accentColor": "#0b7285",
    "backgroundColor": "#ffffff",
    "labelColor": "#323f4b",
    "placeholderColor": "#9aa5b1",
    "fieldBackgroundColor": "#f5f7fa",
    "fieldBorderColor": "#cbd2d9",
    "buttonTextColor": "#ffffff",
    "buttonBackgroundColor": "#0b7285",
}


@dataclass(frozen=True)
class SampleAccount:
    """The credentials of the sample account, and the id of one resource of each kind."""

    api_key: str
    api_secret: str
    brand_id: str
    purchase_id: str
    customer_id: str
    contact_form_id: str
    survey_id: str


def load() -> SampleAccount:
    """Create the account and its data through the services. The DynamoDB tables must exist."""
    account = create_account("Maison Lumen", ACCOUNT_ID)
    credential, secret = issue_key(account.id, "benchmark", "benchmark")
    brand = save_brand(account.id, {"id": _id("brand", 1), "name": "Maison Lumen"})
    stores = [
        save_store(account.id, {"id": _id("store", n), "name": f"Lyon {n}", "brandId": brand.id})
        for n in range(1, STORES + 1)
    ]
    customers = [save_customer(account.id, customer(n)) for n in range(1, CUSTOMERS + 1)]
    purchase = record_purchase(account.id, _purchase(stores[0].id, customers[0].id))
    forms = [save_contact_form(account.id, contact_form(n, brand.id)) for n in range(1, FORMS + 1)]
    store_ids = [store.id for store in stores]
    surveys = [save_survey(account.id, _survey(n, store_ids)) for n in range(1, FORMS + 1)]
    return SampleAccount(
        api_key=credential.api_key,
        api_secret=secret,
        brand_id=brand.id,
        purchase_id=purchase.id,
        customer_id=customers[0].id,
        contact_form_id=forms[0].id,
        survey_id=surveys[0].id,
    )


def customer(number: int) -> dict[str, Any]:
    """Return the definition of one customer.

    Every third customer has a tag and a custom attribute.
    """
    first_name, last_name, language = _PEOPLE[number % len(_PEOPLE)]
    document: dict[str, Any] = {
        "id": _id("customer", number),
        "firstName": first_name,
        "lastName": last_name,
        "email": f"customer-{number}@example.com",
        "phoneNumber": f"+33 6 12 34 {number // 100 % 100:02} {number % 100:02}",
        "language": language,
        "civility": "Mx",
        "company": "Atelier Soleil",
        "theForkId": f"tf-{number}",
        "emailOptin": True,
        "metadata": {"import": {"loyalty": f"L-{number}", "table": "12", "floor": "terrace"}},
    }
    if number % 3 == 1:
        document["tags"] = [{"tag": "VIP", "color": "#C0392B"}]
        document["attributes"] = [
            {"attribute": "Favourite dish", "type": "TEXT", "text": "Soupe", "value": "Soupe"}
        ]
    return document


def _id(kind: str, number: int) -> str:
    return derived_id(ACCOUNT_ID, kind, str(number))


def _purchase(store_id: str, customer_id: str) -> dict[str, Any]:
    return {
        "source": "TheFork",
        "externalId": "booking-20418",
        "storeId": store_id,
        "customerId": customer_id,
        "date": "2026-11-18T19:30:00+01:00",
        "metadata": {"covers": 4, "table": "12", "offer": {"code": "AUTUMN", "percent": 20}},
        "attributes": [{"attribute": "Occasion", "type": "TEXT", "text": "Birthday"}],
    }


def _fields() -> list[dict[str, Any]]:
    """Return 20 field definitions that use most field types.

    `_form` makes five of them conditional.
    """
    fields: list[dict[str, Any]] = [
        {"key": "rating", "type": "RATING", "label": "How was your visit?", "required": True},
        {"key": "nps", "type": "NPS", "label": "Would you recommend us to a friend?"},
        {"key": "stars", "type": "CSAT_STAR", "label": "How many stars do we deserve?"},
        {"key": "smiley", "type": "CSAT_SMILEY", "label": "How do you feel about the service?"},
        {"key": "happy", "type": "BINARY", "label": "Are you happy with us?"},
        {"key": "consent", "type": "CHECKBOX", "label": "You may write to me."},
        {"key": "e-mail", "type": "EMAIL", "label": "E-mail", "placeholder": "you@example.com"},
        {"key": "phone", "type": "PHONE", "label": "Phone", "placeholder": "+33 6 12 34 56 78"},
        {"key": "visited", "type": "DATE", "label": "When did you come?"},
        {"key": "covers", "type": "NUMBER", "label": "How many were you?"},
    ]
    for number in range(5):
        fields.append(
            {
                "key": f"choice-{number}",
                "type": "MULTI_SELECT",
                "label": f"What could be better, part {number + 1}?",
                "values": ["Welcome", "Service", "Food", "Price", "Noise", "Waiting time"],
                "allowCustomValue": True,
                "allowMinReplies": True,
                "minReplies": 1,
                "allowMaxReplies": True,
                "maxReplies": 3,
                "group": "details",
            }
        )
        fields.append(
            {
                "key": f"comment-{number}",
                "type": "LONG_TEXT",
                "label": "Tell us more, please.",
                "placeholder": "What should we change before your next visit?",
                "group": "details",
            }
        )
    return fields


def _form(kind: str, number: int) -> dict[str, Any]:
    french = {"title": "Votre visite ?", "subtitle": "Moins d'une minute."}
    return {
        "id": _id(kind, number),
        "name": f"After your visit, {number}",
        "description": "Linked from the receipt; answered by the team of the restaurant.",
        "language": "en",
        "autoTranslate": True,
        "generalStyle": {"fieldRadius": "ROUNDED", "buttonRadius": "PILL", "font": _FONT}
        | _COLOURS,
        "header": {"title": "How was your visit?", "subtitle": "It takes less than a minute."},
        "body": {"buttonText": "Send"},
        "footer": {
            "display": True,
            "displayLogo": True,
            "title": "Maison Lumen",
            "text": "12 rue des Tanneurs, 69005 Lyon",
        },
        "externalLink": {
            "website": "https://lumen.example.com",
            "instagram": "https://instagram.example.com/maisonlumen",
        },
        "submission": {"title": "Thank you!", "subtitle": "Your answer has reached the team."},
        "logo": _IMAGE,
        "footerLogo": _IMAGE,
        "cover": _IMAGE,
        "fields": _fields(),
        "fieldGroups": [{"key": "details", "name": "Your visit in detail"}],
        "fieldDependencies": [
            {
                "field": f"comment-{n}",
                "dependsOnField": f"choice-{n}",
                "dependsOnFieldValues": [{"operator": "$eq", "value": "Service"}],
            }
            for n in range(5)
        ],
        "translations": {
            "fr": {
                "header": french,
                "fields": {f["key"]: {"label": f"{f['label']} (fr)"} for f in _fields()},
            }
        },
    }


def contact_form(number: int, brand_id: str) -> dict[str, Any]:
    """Build the definition of a contact form."""
    return _form("contact form", number) | {"brandId": brand_id}


def _survey(number: int, store_ids: list[str]) -> dict[str, Any]:
    return _form("survey", number) | {
        "targets": [
            {
                "type": "STORE",
                "targetId": store_id,
                "newReviewUri": f"https://reviews.example.com/new?place={place}",
            }
            for place, store_id in enumerate(store_ids)
        ],
        "sendingChannels": ["EMAIL", "SMS"],
        "solicitationThreshold": 604800,
        "resolicitationDelay": 2592000,
        "supportEmail": {"email": "support@lumen.example.com"},
        "emailLogo": _IMAGE,
        "preRedirect": True,
        "preRedirectConfig": {
            "type": "NPS",
            "threshold": 9,
            "text": {"text": "How satisfied are you?", "color": "#12343b"},
            "nps": {"startText": "Not at all", "endText": "Very", "topic": "Recommend us?"},
        },
        "postRedirect": True,
        "postRedirectThreshold": 8,
    }
