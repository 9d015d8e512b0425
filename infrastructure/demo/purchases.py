"""Build the purchases of the demo data: restaurant meals, deliveries and hotel stays.

The dates cover the six months before a given day.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any, Final

from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.purchases.purchase import purchase_id
from chalicelib.domain.schema import format_timestamp
from infrastructure.demo.customers import SHOWN_CUSTOMER
from infrastructure.demo.ids import MAIN_ACCOUNT, OTHER_ACCOUNT, demo_id

PURCHASE: Final = "purchase"
"""The kind of purchases in the demo data. Purchases are recorded, not loaded as definitions."""

DAYS: Final = 180
"""The number of days that purchases and feedback cover."""

_KINDS: Final = {
    "meal": (
        ("Lightspeed", "TheFork", "Zenchef", "OpenTable", "Import"),
        ("lyon", "paris", "casablanca", "ginza"),
    ),
    "order": (("UberEats", "Deliveroo"), ("paris", "casablanca")),
    "stay": (("Opera", "Mews", "Booking", "Expedia"), ("nice", "essaouira")),
}
"""The kinds of purchases, with their sources and stores."""

_SHOWN_NAME: Final = ("Opera", "demo-stay-0000")
SHOWN_PURCHASE = purchase_id(MAIN_ACCOUNT, DataSource(_SHOWN_NAME[0]), _SHOWN_NAME[1])


def main_purchases(customers: Sequence[str], day: date) -> list[dict[str, Any]]:
    """Return the purchases of the main account. The first purchase has a value in every field.

    Args:
        day: the day after the last purchase.
    """
    return [_complete_purchase(day), *_random_purchases(customers, day, 139)]


def other_purchases(customers: Sequence[str], day: date) -> list[dict[str, Any]]:
    """Return the purchases of the second account."""
    first_day = _midnight(day) - timedelta(days=DAYS)
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


def _random_purchases(customers: Sequence[str], day: date, count: int) -> Iterator[dict[str, Any]]:
    chance = Random("purchases")
    first_day = _midnight(day) - timedelta(days=DAYS)
    for number in range(1, count + 1):
        at = first_day + timedelta(
            days=chance.randrange(DAYS), hours=chance.randint(11, 21), minutes=number % 60
        )
        label = chance.choice(list(_KINDS))
        sources, stores = _KINDS[label]
        purchase = {
            **_purchase(chance.choice(sources), label, number, at),
            "storeId": demo_id(f"store {chance.choice(stores)}"),
            "metadata": {"total": chance.randint(1500, 9000) / 100, "currency": "EUR"},
        }
        if label == "stay":
            arrival = at.replace(hour=15) + timedelta(days=chance.randint(3, 30))
            departure = arrival.replace(hour=11) + timedelta(days=chance.randint(1, 7))
            purchase["startDate"] = format_timestamp(arrival)
            purchase["endDate"] = format_timestamp(departure)
        if chance.random() < 0.97:
            purchase["customerId"] = chance.choice(customers)
        yield purchase


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
            {
                "attribute": "Occasion",
                "type": "SINGLE_SELECT",
                "fromPossibleValue": "Birthday",
                "value": "Birthday",
            },
            {"attribute": "Late arrival", "type": "BOOLEAN", "value": "true", "autoDetected": True},
        ],
    }


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _purchase(source: str, label: str, number: int, timestamp: datetime) -> dict[str, Any]:
    return {
        "kind": PURCHASE,
        "source": source,
        "externalId": f"demo-{label}-{number:04d}",
        "date": format_timestamp(timestamp),
    }
