"""Test the values of custom attributes that are built from definitions."""

from datetime import UTC, datetime

from chalicelib.domain.customers.custom_attribute import CustomAttributeDefinition
from chalicelib.domain.ids import derived_id, new_id
from chalicelib.domain.parsing import parse

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
OWNER = new_id()


def test_omitted_properties_of_attribute_have_default_values() -> None:
    definition = parse({"attribute": "Dish", "type": "TEXT"}, CustomAttributeDefinition)
    assert definition.value_of(OWNER, NOW).model_dump(mode="json") == {
        "id": derived_id(OWNER, "attribute", "Dish"),
        "createdAt": "2026-11-20T10:00:00.000Z",
        "updatedAt": "2026-11-20T10:00:00.000Z",
        "attribute": "Dish",
        "type": "TEXT",
        "autoDetected": False,
        "fromPossibleValue": "",
        "text": "",
        "rating": "",
        "value": "",
    }


def test_attribute_retains_id_of_definition() -> None:
    identifier = new_id()
    definition = CustomAttributeDefinition(attribute="Dish", type="TEXT", id=identifier)
    assert definition.value_of(OWNER, NOW).id == identifier
