"""Build the purchases of the demo data: restaurant meals, deliveries and hotel stays.

The dates cover the 14 months before a given day.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any, Final

from admin.demo.customers import SHOWN_CUSTOMER
from admin.demo.ids import MAIN_ACCOUNT, OTHER_ACCOUNT, demo_id
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.purchases.purchase import purchase_id
from chalicelib.domain.schema import format_timestamp

_DAYS: Final = 420

_TABLES: Final = ("lyon", "paris", "marseille", "bordeaux", "casablanca", "rabat", "ginza", "kyoto")
_HOTELS: Final = ("nice", "annecy", "essaouira", "hakone")
_AT_TABLE: Final = ("Lightspeed", "TheFork", "Zenchef", "OpenTable", "Import")
_DELIVERED: Final = ("UberEats", "Deliveroo")
_STAYED: Final = ("Opera", "Mews", "Booking", "Expedia", "Airbnb", "Agoda")
_DISHES: Final = ("Tajine d’agneau", "Bouillabaisse", "天ぷら", "طاجين بالبرقوق", "Île flottante")

_OCCASION: Final = {
    "attribute": "Occasion",
    "type": "SINGLE_SELECT",
    "fromPossibleValue": "Birthday",
    "value": "Birthday",
}

_SHOWN_NAME: Final = ("Opera", "demo-stay-0000")
SHOWN_PURCHASE = purchase_id(MAIN_ACCOUNT, DataSource(_SHOWN_NAME[0]), _SHOWN_NAME[1])


def main_purchases(customers: Sequence[str], day: date, count: int = 420) -> list[dict[str, Any]]:
    """Return the purchases of the main account. The first purchase has a value in every field.

    Args:
        day: the day after the last purchase.
    """
    return [_complete_purchase(day), *_random_purchases("main", customers, day, count - 1)]


def other_purchases(customers: Sequence[str], day: date) -> list[dict[str, Any]]:
    """Return the purchases of the second account."""
    first_day = _midnight(day) - timedelta(days=_DAYS)
    return [
        {
            **_purchase("Lightspeed", "minuit", number, first_day + timedelta(days=7 * number)),
            "storeId": demo_id("store minuit-gent" if number % 2 else "store minuit-lille"),
            "customerId": customers[number % len(customers)],
        }
        for number in range(10)
    ]


def id_of(account_id: str, purchase: dict[str, Any]) -> str:
    """Return the id under which the account stores the purchase."""
    return purchase_id(account_id, DataSource(purchase["source"]), purchase["externalId"])


OTHER_PURCHASE = id_of(OTHER_ACCOUNT, {"source": "Lightspeed", "externalId": "demo-minuit-0000"})


def _random_purchases(
    account: str, customers: Sequence[str], day: date, count: int
) -> Iterator[dict[str, Any]]:
    chance = Random(f"purchases of {account}")
    first_day = _midnight(day) - timedelta(days=_DAYS)
    for number in range(1, count + 1):
        timestamp = first_day + timedelta(
            days=chance.randrange(_DAYS), hours=chance.randint(11, 21), minutes=number % 60
        )
        match chance.randrange(10):
            case 0 | 1 | 2 | 3:
                purchase = _meal(chance, number, timestamp)
            case 4 | 5 | 6:
                purchase = _delivery(chance, number, timestamp)
            case _:
                purchase = _stay(chance, number, timestamp)
        if chance.random() < 0.97:
            purchase["customerId"] = chance.choice(customers)
        yield purchase


def _meal(chance: Random, number: int, timestamp: datetime) -> dict[str, Any]:
    purchase = {
        **_purchase(chance.choice(_AT_TABLE), "meal", number, timestamp),
        "storeId": demo_id(f"store {chance.choice(_TABLES)}"),
        "metadata": {
            "table": str(chance.randint(1, 40)),
            "covers": chance.randint(1, 8),
            "items": [{"name": chance.choice(_DISHES), "quantity": 1, "price": 24.5}],
            "currency": "EUR",
        },
    }
    if chance.random() < 0.3:
        purchase["attributes"] = [_OCCASION]
    return purchase


def _delivery(chance: Random, number: int, timestamp: datetime) -> dict[str, Any]:
    return {
        **_purchase(chance.choice(_DELIVERED), "order", number, timestamp),
        "storeId": demo_id(f"store {chance.choice(_TABLES[:4])}"),
        "metadata": {"total": chance.randint(1500, 9000) / 100, "courierRating": None},
    }


def _stay(chance: Random, number: int, timestamp: datetime) -> dict[str, Any]:
    nights = chance.randint(1, 7)
    arrival = timestamp.replace(hour=15, minute=0) + timedelta(days=chance.randint(3, 30))
    return {
        **_purchase(chance.choice(_STAYED), "stay", number, timestamp),
        "storeId": demo_id(f"store {chance.choice(_HOTELS)}"),
        "startDate": format_timestamp(arrival),
        "endDate": format_timestamp(arrival.replace(hour=11) + timedelta(days=nights)),
        "metadata": {"room": str(chance.randint(101, 540)), "nights": nights, "board": "BB"},
        "attributes": [{"attribute": "Nights", "type": "NUMBER", "value": str(nights)}],
    }


def _complete_purchase(day: date) -> dict[str, Any]:
    booked, arrival, departure = (_midnight(day) - timedelta(days=ago) for ago in (26, 14, 11))
    return {
        **_purchase(_SHOWN_NAME[0], "stay", 0, booked.replace(hour=9, minute=30)),
        "storeId": demo_id("store essaouira"),
        "customerId": SHOWN_CUSTOMER,
        "startDate": format_timestamp(arrival.replace(hour=15)),
        "endDate": format_timestamp(departure.replace(hour=11)),
        "metadata": {"room": "214", "nights": 3, "guests": [{"name": "ليلى"}], "paid": True},
        "attributes": [
            {"attribute": "Nights", "type": "NUMBER", "value": "3"},
            _OCCASION,
            {"attribute": "Late arrival", "type": "BOOLEAN", "value": "true", "autoDetected": True},
        ],
    }


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _purchase(source: str, label: str, number: int, timestamp: datetime) -> dict[str, Any]:
    return {
        "kind": "purchase",
        "source": source,
        "externalId": f"demo-{label}-{number:04d}",
        "date": format_timestamp(timestamp),
    }
