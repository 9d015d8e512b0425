"""Test that the commands of the documentation succeed, and respond as its examples show."""

from collections.abc import Iterator
from typing import Any

import pytest
from chalice.test import Client
from jsonschema import Draft202012Validator

from infrastructure.openapi.document import THANKS
from tests.web.openapi.commands import (
    COMMANDS,
    OPERATIONS,
    SPECIFICATION,
    Json,
    find_variables,
    run,
)
from tests.web.partner_client import Response

SCHEMAS = SPECIFICATION["components"]["schemas"]
Shape = dict[str, dict[str, set[str]]]
"""The JSON types of each field of each schema."""

NOT_RETURNED = {
    "AddressConsent",
    "CustomerConsent",
    "RejectedRow",
    "RemovedFeedback",
    "ReplayedDelivery",
    "RowError",
    "WebhookAttempt",
}
"""Schemas of which no response to a command contains an object."""


@pytest.fixture(scope="module")
def responses(demo_client: Client) -> list[tuple[Json, Response]]:
    """Run every command twice. Return the operations with their responses."""
    found = []
    for _ in range(2):
        variables = find_variables(demo_client)
        for _, _, operation in OPERATIONS:
            response = run(demo_client, COMMANDS[operation["operationId"]], variables)
            found.append((operation, response))
    return found


def contents(operation: Json) -> Iterator[tuple[str, Json]]:
    """Yield the status and the content of each successful JSON response of an operation."""
    for status, described in operation["responses"].items():
        if status < "300" and "application/json" in described.get("content", {}):
            yield status, described["content"]["application/json"]


def test_every_command_succeeds_on_first_and_second_run(
    responses: list[tuple[Json, Response]],
) -> None:
    for operation, response in responses:
        expected = [
            status
            for status, described in operation["responses"].items()
            if status < "300" and described.get("description") != THANKS["description"]
        ]
        assert str(response.status) == expected[0], (operation["operationId"], response.body)
        assert expected[1:] == (["204"] if operation["operationId"] == "submitSurvey" else [])


def test_responses_conform_to_schemas(responses: list[tuple[Json, Response]]) -> None:
    validator = Draft202012Validator({"components": SPECIFICATION["components"]})
    for operation, response in responses:
        for _, content in contents(operation):
            validator.evolve(schema=content["schema"]).validate(response.json)


def test_examples_have_shape_of_responses(responses: list[tuple[Json, Response]]) -> None:
    shown: Shape = {}
    actual: Shape = {}
    for operation, response in responses:
        for _, content in contents(operation):
            if "example" in content:
                add_shape(shown, content["schema"], content["example"])
                add_shape(actual, content["schema"], response.json)
    assert shown.keys() - actual.keys() == NOT_RETURNED
    for schema in shown.keys() & actual.keys():
        assert shown[schema].keys() == actual[schema].keys(), schema
        for field, types in shown[schema].items():
            both = types - {"null"}, actual[schema][field] - {"null"}
            assert both[0] == both[1] or not all(both), (schema, field)


def add_shape(shape: Shape, schema: Json, value: Any) -> None:
    """Add the types of a value that a schema describes, and of the values in it."""
    if "anyOf" in schema:
        schema = schema["anyOf"][0]
    if isinstance(value, list):
        for item in value:
            add_shape(shape, schema["items"], item)
    elif isinstance(value, dict) and "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        for field, inner in value.items():
            types = shape.setdefault(name, {}).setdefault(field, set())
            types.add(json_type(inner))
            add_shape(shape, SCHEMAS[name]["properties"][field], inner)


def json_type(value: Any) -> str:
    """Return the name of the JSON type of a value."""
    types = {bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
    return "null" if value is None else types.get(type(value), "object")
