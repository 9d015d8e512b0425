"""Tests of the tables in memory that benchmarks use instead of DynamoDB."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from benchmarks.expressions import Item, Scope, holds, updated
from benchmarks.memory_cloud import MemoryCloud
from chalicelib.domain.ids import new_id

ROW: Item = {"total": {"N": "3"}, "name": {"S": "Zoé"}, "sources": {"SS": ["a"]}}
PLACEHOLDERS: dict[str, Any] = {
    "ExpressionAttributeNames": {
        "#0": "total",
        "#1": "name",
        "#2": "missing",
        "#3": "sources",
    },
    "ExpressionAttributeValues": {
        ":0": {"N": "3"},
        ":1": {"N": "10"},
        ":2": {"S": "Zo"},
        ":3": {"SS": ["b"]},
    },
}
CUSTOMERS = "feedback-test-customers"
COUNTERS = "feedback-test-counters"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (None, True),
        ("#0 = :0", True),
        ("#0 = :1", False),
        ("#0 <> :1", True),
        ("#0 < :1", True),
        ("#0 >= :1", False),
        ("#2 <= :1", False),
        (":1 >= #2", False),
        ("#0 BETWEEN :0 AND :1", True),
        ("#0 IN (:1)", False),
        ("#0 IN (:0, :1)", True),
        ("begins_with (#1, :2)", True),
        ("attribute_exists (#0) AND attribute_not_exists (#2)", True),
        ("(#0 = :1 OR attribute_not_exists (#2))", True),
        ("NOT #0 = :0", False),
    ],
)
def test_condition_is_evaluated_as_in_dynamodb(condition: str | None, expected: bool) -> None:
    assert holds(condition, Scope(ROW, PLACEHOLDERS)) is expected


@pytest.mark.parametrize(
    ("update", "changed"),
    [
        ("SET #0 = :1, #2 = :2", {"total": {"N": "10"}, "missing": {"S": "Zo"}}),
        ("SET #0 = if_not_exists (#2, :1) + :0", {"total": {"N": "13"}}),
        ("SET #2 = if_not_exists (#0, :1)", {"missing": {"N": "3"}}),
        ("ADD #0 :1, #2 :0", {"total": {"N": "13"}, "missing": {"N": "3"}}),
        ("ADD #3 :3", {"sources": {"SS": ["a", "b"]}}),
        ("SET #0 = :1 REMOVE #1, #2", {"total": {"N": "10"}, "name": None}),
    ],
)
def test_update_is_applied_as_in_dynamodb(update: str, changed: dict[str, Any]) -> None:
    after = updated(ROW, {**PLACEHOLDERS, "UpdateExpression": update})
    expected = {name: value for name, value in {**ROW, **changed}.items() if value}
    assert after == expected


def put(key: str, block: str, position: int) -> dict[str, Any]:
    return {
        "Put": {
            "TableName": CUSTOMERS,
            "Item": {
                "key": {"S": key},
                "list_block": {"S": block},
                "position": {"N": str(position)},
            },
            "ConditionExpression": "attribute_not_exists(#key)",
            "ExpressionAttributeNames": {"#key": "key"},
        }
    }


def transact(tables: MemoryCloud, *writes: dict[str, Any]) -> None:
    tables.TransactWriteItems({"ClientRequestToken": new_id(), "TransactItems": writes})


def positions_of(tables: MemoryCloud, block: str) -> list[int]:
    query = {
        "TableName": CUSTOMERS,
        "IndexName": "by_block",
        "KeyConditionExpression": "#0 = :0 AND #1 BETWEEN :1 AND :2",
        "ExpressionAttributeNames": {"#0": "list_block", "#1": "position"},
        "ExpressionAttributeValues": {":0": {"S": block}, ":1": {"N": "2"}, ":2": {"N": "10"}},
    }
    return [int(item["position"]["N"]) for item in tables.Query(query)["Items"]]


def test_transaction_with_failed_condition_writes_nothing() -> None:
    tables = MemoryCloud("test")
    transact(tables, put("a", "1", 10), put("b", "1", 2))
    with pytest.raises(ClientError) as raised:
        transact(tables, put("c", "1", 3), put("a", "1", 4))
    response: Any = raised.value.response
    reasons = [reason["Code"] for reason in response["CancellationReasons"]]
    assert reasons == ["None", "ConditionalCheckFailed"]
    assert positions_of(tables, "1") == [2, 10]


def test_index_follows_updates_of_its_keys() -> None:
    tables = MemoryCloud("test")
    transact(tables, put("a", "1", 3))
    update = {
        "TableName": CUSTOMERS,
        "Key": {"key": {"S": "a"}},
        "UpdateExpression": "SET #0 = :0",
        "ReturnValues": "ALL_NEW",
        "ExpressionAttributeNames": {"#0": "list_block"},
        "ExpressionAttributeValues": {":0": {"S": "2"}},
    }
    assert tables.UpdateItem(update)["Attributes"]["list_block"] == {"S": "2"}
    assert (positions_of(tables, "1"), positions_of(tables, "2")) == ([], [3])


def test_update_creates_missing_row_with_its_key() -> None:
    tables = MemoryCloud("test")
    key = {"account_id": {"S": "account"}, "kind": {"S": "customers"}}
    add = {
        "TableName": COUNTERS,
        "Key": key,
        "UpdateExpression": "ADD #0 :0",
        "ExpressionAttributeNames": {"#0": "total"},
        "ExpressionAttributeValues": {":0": {"N": "2"}},
    }
    tables.UpdateItem(add)
    tables.UpdateItem(add)
    assert tables.GetItem({"TableName": COUNTERS, "Key": key})["Item"]["total"] == {"N": "4"}
