"""Test the validation of customer bodies, and the type and mean rating of customers."""

from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.domain.customers.body import CustomerBody, customer_from_body
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def customer(**fields: Any) -> Customer:
    return Customer(id=new_id(), created_at=NOW, updated_at=NOW, **fields)


def test_new_customer_has_default_values() -> None:
    body = parse({"email": "Zoe@Example.com", "lastName": "Martin"}, CustomerBody)
    created = customer_from_body(body, new_id(), NOW).model_dump(mode="json")
    assert {name: value for name, value in created.items() if value is not None} == {
        "id": created["id"],
        "createdAt": "2026-11-20T10:00:00.000Z",
        "updatedAt": "2026-11-20T10:00:00.000Z",
        "email": "Zoe@Example.com",
        "lastName": "Martin",
        "displayName": "Martin",
        "emailBounced": False,
        "emailOptin": False,
        "smsOptin": False,
        "tags": [],
        "feedbackCount": 0,
        "purchaseCount": 0,
        "dataSources": ["Import"],
        "metadata": {},
        "attributes": [],
    }
    assert created["type"] is created["averageFeedbackRating"] is None


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"a": None, " b ": " x ", "c": "  ", "d": "y"}, {"b": "x", "d": "y"}),
        ({"a": None}, None),
        ({}, None),
        (None, None),
    ],
)
def test_metadata_without_value_counts_as_absent(
    metadata: Any, expected: dict[str, str] | None
) -> None:
    body = parse({"company": "Lumen", "metadata": metadata}, CustomerBody)
    assert body.metadata == expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"a": "x", " a": "y"}, ("/metadata", "duplicate")),
        ({"": "x"}, ("/metadata/", "required")),
        ({"a": 1}, ("/metadata/a", "wrong_type")),
        ([], ("/metadata", "wrong_type")),
    ],
)
def test_invalid_metadata_is_rejected(metadata: Any, expected: tuple[str, str]) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse({"metadata": metadata}, CustomerBody)
    assert [(error.pointer, error.code) for error in raised.value.errors] == [expected]


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
