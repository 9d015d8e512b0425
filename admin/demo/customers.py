"""Build the customers of the demo data: one with every field, and many with random data."""

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random
from typing import Any, Final

from admin.demo.ids import demo_id
from admin.demo.people import Person, draw_digits, draw_person
from chalicelib.domain.customers.platforms import IDENTIFIERS, IMPORT_METADATA_KEY, METADATA_KEYS

SHOWN_CUSTOMER = demo_id("customer shown")

_DOMAINS: Final = ("example.com", "example.org", "example.net")
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
_DISHES: Final = ("Tajine", "Bouillabaisse", "天ぷら", "Couscous", "Risotto", "Île flottante")
_ALLERGIES: Final = ("Nuts", "Gluten", "Shellfish", "Lactose", "Eggs", "Sesame")
_SEATS: Final = (
    ("Près de la fenêtre", "window"),
    ("En terrasse", "terrace"),
    ("Au calme, loin de la cuisine", "quiet"),
    ("カウンター席", "counter"),
)


def main_customers(count: int = 260) -> list[dict[str, Any]]:
    """Return the customers of the main account. The first customer has a value in every field."""
    return [_complete_customer(), *_random_customers("main", count - 1)]


def other_customers() -> list[dict[str, Any]]:
    """Return the customers of the second account."""
    return list(_random_customers("other", 8))


def _random_customers(account: str, count: int) -> Iterator[dict[str, Any]]:
    chance = Random(f"customers of {account}")
    for number in range(1, count + 1):
        yield {
            "kind": "customer",
            "id": demo_id(f"customer {account} {number}"),
            **_fields(chance, draw_person(chance), number),
        }


def _fields(chance: Random, person: Person, number: int) -> dict[str, Any]:
    document: dict[str, Any] = {"firstName": person.first_name, "lastName": person.last_name}
    if chance.random() < 0.9:
        document["language"] = person.naming.language
    if chance.random() < 0.85:
        document["email"] = f"{person.address}.{number}@{chance.choice(_DOMAINS)}"
        document["emailOptin"] = chance.random() < 0.7
        document["emailBounced"] = chance.random() < 0.04
    if "email" not in document or chance.random() < 0.7:
        document["phoneNumber"] = draw_digits(chance, person.naming.phone)
        document["smsOptin"] = chance.random() < 0.5
    if chance.random() < 0.4:
        document["civility"] = chance.choice(person.naming.civilities)
    if chance.random() < 0.15:
        document["company"] = chance.choice(_COMPANIES)
    if chance.random() < 0.1:
        document["description"] = "Prefers to be called in the afternoon."
    if chance.random() < 0.25:
        document["tags"] = chance.sample(_TAGS, chance.randint(1, 3))
    if chance.random() < 0.25:
        sampled = chance.sample(_ATTRIBUTES, chance.randint(1, 3))
        # Attributes have a separate random generator, so that they do not affect other fields.
        document["attributes"] = list(_varied(sampled, Random(f"attributes {person} {number}")))
    if chance.random() < 0.03:
        document["type"] = "Unknown"
    if chance.random() < 0.4:
        document |= _external_fields(chance, person, number)
    return document


def _varied(attributes: list[dict[str, Any]], chance: Random) -> Iterator[dict[str, Any]]:
    """Yield the attributes with random values of the same types."""
    for attribute in attributes:
        match attribute["type"]:
            case "SINGLE_SELECT":
                dish = chance.choice(_DISHES)
                yield {**attribute, "fromPossibleValue": dish, "value": dish}
            case "MULTI_SELECT":
                allergies = chance.sample(_ALLERGIES, chance.randint(1, 3))
                chosen = {"fromPossibleValue": allergies[0], "value": ", ".join(allergies)}
                yield {**attribute, **chosen}
            case "TEXT":
                text, value = chance.choice(_SEATS)
                yield {**attribute, "text": text, "value": value}
            case "NUMBER":
                yield {**attribute, "value": str(chance.randint(1, 40))}
            case "RATING":
                yield {**attribute, "rating": str(chance.randint(3, 10))}
            case "DATE":
                born = date(1948, 1, 1) + timedelta(days=chance.randrange(58 * 365))
                yield {**attribute, "value": born.isoformat()}
            case _:
                yield {**attribute, "value": chance.choice(("true", "false"))}


def _external_fields(chance: Random, person: Person, number: int) -> dict[str, Any]:
    """Return a customer's fields about external systems: identifiers, metadata and data sources."""
    reference = f"{number:05d}"
    prefixes: dict[str, str] = {}
    metadata: dict[str, Any] = {}
    sources = ["Import"]
    match chance.randrange(6):
        case 0:
            prefixes, sources = {"theForkId": "tf"}, ["TheFork"]
            covers = chance.randint(1, 8)
            metadata["theFork"] = {"guestId": reference, "covers": covers, "noShows": 0}
        case 1:
            prefixes, sources = {"operaId": "op"}, ["Opera"]
            metadata["opera"] = {
                "profileId": reference,
                "loyalty": {"level": chance.choice(["Silver", "Gold"]), "nights": number % 40},
                "address": {"city": "Lyon", "country": "FR"},
            }
        case 2:
            prefixes, sources = {"uberEatsId": "ue"}, ["UberEats"]
            orders = chance.randint(1, 30)
            metadata["uberEats"] = {"eaterId": reference, "orders": orders, "contactless": True}
        case 3:
            prefixes, sources = {"comoId": "co"}, ["Como", "HubSpot"]
            properties = {"lifecyclestage": "customer", "score": 0.5}
            metadata["hubSpot"] = {"vid": number, "properties": properties}
        case 4:
            prefixes, sources = {"mewsId": "mw", "bookingId": "bk"}, ["Mews", "Booking"]
            guest = {"Id": reference, "LastName": person.last_name, "Classifications": ["Loyal"]}
            metadata = {"mews": guest, "booking": {"genius": number % 4}}
        case _:
            metadata["import"] = {"file": "clients-2024.csv", "row": str(number)}
    ids = {name: f"{prefix}-{reference}" for name, prefix in prefixes.items()}
    return {**ids, "metadata": metadata, "dataSources": sources}


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
