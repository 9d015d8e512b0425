"""Test the validation of customer bodies, and the type and mean rating of customers."""

from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.ids import new_id

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def customer(**fields: Any) -> Customer:
    return Customer(id=new_id(), created_at=NOW, updated_at=NOW, **fields)


@pytest.mark.parametrize(
    ("purchases", "feedback", "expected"),
    [(0, 0, "Unknown"), (1, 0, "Purchaser"), (0, 1, "Reviewer"), (1, 1, "Both")],
)
def test_type_of_customer_follows_from_counts(purchases: int, feedback: int, expected: str) -> None:
    counted = customer(purchase_count=purchases, feedback_count=feedback, declared_type="Unknown")
    assert counted.type == expected


@pytest.mark.parametrize(
    ("total", "count", "expected"),
    [(0, 0, None), (0, 1, "0"), (20, 2, "10"), (17, 2, "8.5"), (20, 3, "6.67"), (1, 8, "0.13")],
)
def test_mean_rating_has_at_most_two_decimals(total: int, count: int, expected: str | None) -> None:
    assert customer(rating_sum=total, rating_count=count).average_feedback_rating == expected
