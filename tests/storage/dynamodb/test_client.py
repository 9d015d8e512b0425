"""Test that the DynamoDB client parses responses and selects endpoints as botocore does."""

import json
from base64 import b64encode
from typing import Any

from botocore.parsers import JSONParser
from botocore.session import get_session
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.settings import settings
from chalicelib.storage.dynamodb.client import DynamoDbParser, dynamodb_client
from tests.aws_requests import destination_of

SERVICE = get_session().get_service_model("dynamodb")
BINARY = st.binary(max_size=8).map(lambda raw: b64encode(raw).decode())
VALUES = st.recursive(
    st.one_of(
        st.fixed_dictionaries({"S": st.text(max_size=8)}),
        st.fixed_dictionaries({"N": st.integers().map(str)}),
        st.fixed_dictionaries({"B": BINARY}),
        st.fixed_dictionaries({"SS": st.lists(st.text(max_size=3), min_size=1, max_size=3)}),
        st.fixed_dictionaries({"BS": st.lists(BINARY, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"BOOL": st.booleans()}),
        st.just({"NULL": True}),
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"M": st.dictionaries(st.text(max_size=3), inner, max_size=3)}),
        st.fixed_dictionaries({"L": st.lists(inner, max_size=3)}),
    ),
    max_leaves=8,
)
ITEMS = st.dictionaries(st.text(min_size=1, max_size=5), VALUES, max_size=5)


def parse(parser: JSONParser, operation: str, body: Any, status: int = 200) -> Any:
    shape = SERVICE.operation_model(operation).output_shape
    response = {"body": json.dumps(body).encode(), "headers": {}, "status_code": status}
    return parser.parse(response, shape)


@given(ITEMS)
def test_parsed_get_item_response_equals_result_of_botocore(item: dict[str, Any]) -> None:
    body = {"Item": item, "ConsumedCapacity": {"TableName": "t", "CapacityUnits": 0.5}}
    parsed, expected = (
        parse(parser, "GetItem", body) for parser in (DynamoDbParser(), JSONParser())
    )
    assert parsed == expected


@given(st.lists(ITEMS, max_size=3))
def test_parsed_query_response_equals_result_of_botocore(items: list[dict[str, Any]]) -> None:
    page = {"Items": items, "Count": len(items), "LastEvaluatedKey": {"key": {"S": "x"}}}
    batch = {"Responses": {"t": items}, "UnprocessedKeys": {"t": {"Keys": items}}}
    for operation, body in (("Query", page), ("BatchGetItem", batch)):
        assert parse(DynamoDbParser(), operation, body) == parse(JSONParser(), operation, body)


def test_parsed_error_response_equals_result_of_botocore() -> None:
    body = {
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "cancelled",
        "CancellationReasons": [
            {"Code": "None"},
            {"Code": "ConditionalCheckFailed", "Item": {"key": {"B": "AAE="}}},
        ],
    }
    parsed, expected = (
        parse(parser, "TransactWriteItems", body, status=400)
        for parser in (DynamoDbParser(), JSONParser())
    )
    assert parsed["Error"] == expected["Error"] == {
        "Message": "cancelled", "Code": "TransactionCanceledException"
    }  # fmt: skip


def test_parsed_non_json_response_equals_result_of_botocore() -> None:
    response = {"body": b"<html>", "headers": {}, "status_code": 503}
    shape = SERVICE.operation_model("GetItem").output_shape
    assert DynamoDbParser().parse(response, shape) == JSONParser().parse(response, shape)


def test_client_calls_endpoint_that_botocore_resolves() -> None:
    expected = get_session().create_client("dynamodb", region_name=settings().region)
    assert destination_of(dynamodb_client(), "list_tables") == destination_of(
        expected, "list_tables"
    )
