"""Build the customers of the demo data: one with every field, and many with random data."""

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from chalicelib.domain.customers.platforms import IDENTIFIERS, IMPORT_METADATA_KEY, METADATA_KEYS
from infrastructure.demo.ids import demo_id
from infrastructure.demo.people import draw_person

SHOWN_CUSTOMER = demo_id("customer shown")

_COMPANIES: Final = (
    "Atelier Bleu",
    "Société Générale d’Édition",
    "شركة النخيل",
    "ООО Ромашка",
    "株式会社みどり",
    "Καφέ Αιγαίο",
    "Nordwind GmbH",
)
_TAGS: Final = (
    {"tag": "VIP", "color": "#c0392b"},
    {"tag": "Habitué", "color": "#0b7285"},
    {"tag": "Allergie", "color": "#b9770e"},
    {"tag": "Presse", "color": "#6c3483"},
    {"tag": "À rappeler"},
)
_ATTRIBUTES: Final[tuple[dict[str, Any], ...]] = (
    {
        "attribute": "Favourite dish",
        "type": "SINGLE_SELECT",
        "fromPossibleValue": "Tajine",
        "value": "Tajine",
    },
    {
        "attribute": "Allergies",
        "type": "MULTI_SELECT",
        "fromPossibleValue": "Nuts",
        "value": "Nuts, Gluten",
    },
    {"attribute": "Seat", "type": "TEXT", "text": "Près de la fenêtre", "value": "window"},
    {"attribute": "Visits a year", "type": "NUMBER", "value": "12"},
    {"attribute": "Last mood", "type": "RATING", "rating": "8", "autoDetected": True},
    {"attribute": "Birthday", "type": "DATE", "value": "1987-04-12"},
    {"attribute": "Pays by invoice", "type": "BOOLEAN", "value": "true"},
)
_SYSTEMS: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("theFork", "TheFork", {"covers": 4, "noShows": 0}),
    ("opera", "Opera", {"loyalty": {"level": "Gold", "nights": 12}, "city": "Lyon"}),
    ("uberEats", "UberEats", {"orders": 17, "contactless": True}),
    ("mews", "Mews", {"classifications": ["Loyal"], "score": 0.5}),
)
"""Systems whose customers were imported: the key of the metadata, the source, and a record."""


def main_customers() -> list[dict[str, Any]]:
    """Return the customers of the main account. The first customer has a value in every field."""
    return [_complete_customer(), *_random_customers("main", 79)]


def other_customers() -> list[dict[str, Any]]:
    """Return the customers of the second account."""
    return list(_random_customers("other", 8))


def _random_customers(account: str, count: int) -> Iterator[dict[str, Any]]:
    chance = Random(f"customers of {account}")
    for number in range(1, count + 1):
        person = draw_person(chance, f"guest.{number}")
        if chance.random() < 0.4:
            del person[chance.choice(("email", "phoneNumber"))]
        yield {
            "kind": "customer",
            "id": demo_id(f"customer {account} {number}"),
            **person,
            "emailOptin": chance.random() < 0.85 and "email" in person,
            "smsOptin": chance.random() < 0.6 and "phoneNumber" in person,
            **_details(chance, number),
        }


def _details(chance: Random, number: int) -> dict[str, Any]:
    """Return the fields that only some customers have."""
    details: dict[str, Any] = {}
    if chance.random() < 0.15:
        details["company"] = chance.choice(_COMPANIES)
    if chance.random() < 0.25:
        details["tags"] = chance.sample(_TAGS, chance.randint(1, 3))
    if chance.random() < 0.25:
        details["attributes"] = chance.sample(_ATTRIBUTES, chance.randint(1, 3))
    if chance.random() < 0.4:
        key, source, record = chance.choice(_SYSTEMS)
        details[f"{key}Id"] = f"{key}-{number:05d}"
        details["dataSources"] = [source]
        details["metadata"] = {key: record}
    return details


def _complete_customer() -> dict[str, Any]:
    records: dict[str, Any] = {
        key: {"reference": f"{key}-1", "visits": 3, "address": {"city": "Casablanca"}}
        for key in METADATA_KEYS
    }
    records[IMPORT_METADATA_KEY] = {"file": "clients-2024.csv", "ville": "الدار البيضاء"}
    return {
        "kind": "customer",
        "id": SHOWN_CUSTOMER,
        "description": "Regular guest of both houses. Every customer field has a value.",
        "company": "Atelier Bleu",
        "firstName": "Anaïs",
        "lastName": "Benjelloun–Lefèvre",
        "displayName": "Anaïs B.-L. ليلى",
        "language": "fr",
        "phoneNumber": "+33 6 39 98 00 01",
        "email": "anais.benjelloun@example.com",
        "civility": "Mme",
        "emailOptin": True,
        "smsOptin": True,
        **{identifier: f"{identifier}-0001" for identifier in IDENTIFIERS},
        "dataSources": ["Email", "Import", "Survey", "TheFork", "Opera"],
        "tags": list(_TAGS),
        "attributes": list(_ATTRIBUTES),
        "metadata": records,
    }
