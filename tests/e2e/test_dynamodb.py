"""Repeat the requests of the unit tests, which `make test` records, with other DynamoDBs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

from tests.aws.recording import load, repeat
from tests.aws.tables import Tables, template
from tests.e2e.cloud import Cloud

RECORDED = Path(__file__).parents[2] / ".build" / "recorded-requests"
AWS = "https://dynamodb.eu-west-1.amazonaws.com"
"""The endpoint that moto replaces. The environment names that of the local cloud."""
SETTINGS = ("TableName", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes")
TABLES = template("test").by_name("AWS::DynamoDB::Table", "TableName")


@pytest.fixture(params=["moto", "emulator"])
def witness(request: pytest.FixtureRequest) -> Iterator[tuple[str, Any]]:
    """Return the name and a client of another DynamoDB with empty tables of the stage ``test``."""
    if not RECORDED.exists():
        pytest.skip("No requests are recorded. Run make test first.")
    with mock_aws():
        client: Any = boto3.client(
            "dynamodb", endpoint_url=AWS, config=Config(parameter_validation=False)
        )
        if request.param == "emulator":
            cloud: Cloud = request.getfixturevalue("cloud")
            client = cloud.client("dynamodb")
        for properties in TABLES.values():
            settings = {name: properties[name] for name in SETTINGS if name in properties}
            client.create_table(**settings, BillingMode="PAY_PER_REQUEST")
        yield request.param, client
        for name in TABLES:
            client.delete_table(TableName=name)


def is_known_difference(name: str, expected: Any, actual: Any) -> bool:
    """Return whether the DynamoDB is known to differ from AWS in this outcome.

    Both do not check all rules of requests. Moto returns the start of a next page only if there are
    more rows. With the updated values of a row, it also returns the key of a new row, and it omits
    values that did not change.
    """
    if "ValidationE" in str([expected.get("Error"), expected.get("CancellationReasons")]):
        return True
    without_page = {name: expected[name] for name in expected.keys() - {"LastEvaluatedKey"}}
    values, returned = expected.get("Attributes", {}), actual.get("Attributes", {})
    has_same_rows = expected.get("Rows") == actual.get("Rows") and "Error" not in actual
    is_subset = values.items() < returned.items() or returned.items() < values.items()
    is_about_values = bool(values) and has_same_rows and is_subset
    return name == "moto" and (without_page == actual or is_about_values)


@pytest.mark.parametrize(
    ("expected", "actual", "is_known"),
    [
        ({"Attributes": {"a": 1}}, {"Attributes": {"a": 1, "b": 1}}, True),
        ({"Attributes": {"a": 1}}, {}, True),
        ({"Attributes": {"a": 1}}, {"Error": "InternalServerError"}, False),
        ({"Error": "ConditionalCheckFailedException"}, {"Attributes": {"a": 1}}, False),
        ({}, {"Attributes": {"a": 1}}, False),
        ({"Attributes": {"a": 1}}, {"Attributes": {"a": 2}}, False),
        ({"LastEvaluatedKey": {"a": 1}, "Count": 1}, {"Count": 1}, True),
        ({"Error": "ValidationException"}, {}, True),
    ],
)
def test_only_listed_differences_are_known(expected: Any, actual: Any, is_known: bool) -> None:
    assert is_known_difference("moto", expected, actual) == is_known


def test_recorded_requests_have_the_same_outcome(witness: tuple[str, Any]) -> None:
    name, client = witness
    memory = Tables("test", lambda: 0.0)
    cases = load(RECORDED)
    assert cases
    different = []
    for case in cases:
        expected, actual = repeat(case, memory.respond), repeat(case, client._make_api_call)
        if expected != actual and not is_known_difference(name, expected, actual):
            different.append(f"{case}\n  in memory: {expected}\n  {name}: {actual}")
    assert not different, "\n".join(different)
