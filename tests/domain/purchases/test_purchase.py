"""Test the purchase that the service builds from a definition."""

import json
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import TypeAdapter

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.definition import (
    TIMES,
    PurchaseDefinition,
    build_purchase,
    check_rules,
    with_offsets,
)
from chalicelib.domain.purchases.purchase import Purchase, purchase_id
from tests.domain.forms.factories import BRAND, DIRECTORY, LATER, NOW, NOW_TEXT, NOWHERE, STORE

CUSTOMER = new_id()
MINIMAL = {"source": "Lightspeed", "externalId": "A-1", "storeId": STORE, "date": NOW_TEXT}
PURCHASE_FIELDS = set(
    "id createdAt updatedAt storeId storeName customer date startDate endDate externalId source "
    "metadata attributes".split()
)


def saved_purchase(**overrides: Any) -> Purchase:
    definition = parse(MINIMAL | overrides, PurchaseDefinition)
    check_rules(definition, DIRECTORY, {CUSTOMER}.__contains__)
    record_id = purchase_id("a", definition.source, definition.external_id)
    return build_purchase(definition, record_id, definition.customer_id, None, NOW)


def errors(**overrides: Any) -> list[tuple[str, str]]:
    """Validate a definition and return the pointer and code of each error."""
    try:
        saved_purchase(**overrides)
    except InvalidInput as error:
        return [(input_error.pointer, input_error.code) for input_error in error.errors]
    return []


def test_purchase_has_exactly_the_fields_of_the_contract() -> None:
    purchase = saved_purchase(customerId=CUSTOMER)
    assert purchase.customer_id == CUSTOMER
    assert set(purchase.model_dump(mode="json")) == PURCHASE_FIELDS


def test_start_and_end_date_default_to_purchase_date() -> None:
    purchase = saved_purchase()
    assert purchase.start_date == purchase.end_date == purchase.date == NOW
    booking = saved_purchase(startDate="2026-11-21T10:00:00Z", endDate="2026-11-22T10:00:00Z")
    assert (booking.date, booking.start_date) == (NOW, LATER)
    assert booking.end_date == LATER + timedelta(days=1)


def test_source_and_external_id_identify_purchase() -> None:
    assert saved_purchase().id == saved_purchase(customerId=CUSTOMER, storeId=STORE.upper()).id
    assert saved_purchase().id != saved_purchase(externalId="A-2").id
    assert saved_purchase().id != saved_purchase(source="Opera").id


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({"customerId": CUSTOMER}, []),
        ({"customer": {"email": "zoe@example.com"}}, []),
        ({"storeId": BRAND}, [("/storeId", "unknown_reference")]),
        ({"storeId": NOWHERE}, [("/storeId", "unknown_reference")]),
        ({"customerId": NOWHERE}, [("/customerId", "unknown_reference")]),
        (
            {"customerId": CUSTOMER, "customer": {"email": "zoe@example.com"}},
            [("", "invalid_combination")],
        ),
        ({"externalId": ""}, [("/externalId", "required")]),
        ({"externalId": "x" * 256}, [("/externalId", "too_long")]),
        ({"startDate": "2026-11-21T10:00:00Z"}, []),
        ({"endDate": "2026-11-01T10:00:00Z"}, []),
        ({"startDate": "2026-11-21T10:00:00Z", "endDate": "2026-11-21T11:00:00+01:00"}, []),
        (
            {"startDate": "2026-11-21T10:00:00Z", "endDate": "2026-11-21T10:59:59+01:00"},
            [("/endDate", "out_of_range")],
        ),
        ({"attributes": [{"attribute": "a", "type": "TEXT"}] * 101}, [("/attributes", "too_many")]),
    ],
)
def test_references_and_limits_of_purchase_are_validated(
    overrides: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert errors(**overrides) == expected


def test_all_times_of_definition_get_offset() -> None:
    properties = TypeAdapter(PurchaseDefinition).json_schema()["properties"]
    times = [name for name, schema in properties.items() if '"date-time"' in json.dumps(schema)]
    assert tuple(times) == TIMES
    local = dict.fromkeys(TIMES, "2026-11-20T10:00:00")
    expected = dict.fromkeys(TIMES, "2026-11-20T10:00:00+01:00")
    assert with_offsets(local, ZoneInfo("Europe/Paris")) == expected


@pytest.mark.parametrize("definition", [[], "x", None, {"date": 7}, {"date": "yesterday"}])
def test_invalid_definition_stays_unchanged(definition: Any) -> None:
    assert with_offsets(definition, ZoneInfo("Europe/Paris")) == definition


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ({}, LATER),
        ({"sendAt": None}, None),
        ({"sendAt": NOW_TEXT}, NOW),
        ({"startDate": None}, LATER),
    ],
)
def test_update_keeps_creation_time_and_time_of_survey(
    update: dict[str, Any], expected: datetime | None
) -> None:
    earlier = saved_purchase().model_copy(update={"send_at": LATER})
    definition = parse(MINIMAL | update, PurchaseDefinition)
    purchase = build_purchase(definition, earlier.id, None, earlier, LATER)
    assert (purchase.created_at, purchase.updated_at) == (NOW, LATER)
    assert purchase.send_at == expected
