"""Tests of the tables in memory."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from chalicelib.domain.ids import new_id
from tests.aws.expressions import Item, Scope, holds, updated
from tests.aws.faults import InjectedFault, inject_fault
from tests.aws.stage import tables
from tests.aws.tables import MAX_ITEM_BYTES, Tables

ROW: Item = {
    "total": {"N": "3"},
    "name": {"S": "Zoé"},
    "sources": {"SS": ["a"]},
    "codes": {"L": [{"S": "Zo"}]},
}
PLACEHOLDERS: dict[str, Any] = {
    "ExpressionAttributeNames": {
        "#0": "total",
        "#1": "name",
        "#2": "missing",
        "#3": "sources",
        "#4": "codes",
    },
    "ExpressionAttributeValues": {
        ":0": {"N": "3"},
        ":1": {"N": "10"},
        ":2": {"S": "Zo"},
        ":3": {"SS": ["b"]},
        ":4": {"S": "a"},
        ":5": {"SS": ["a"]},
        ":6": {"N": "3.0"},
    },
}
CUSTOMERS = "feedback-test-customers"
COUNTERS = "feedback-test-counters"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (None, True),
        ("#0 = :0", True),
        ("#0 = :6", True),
        ("#0 = :1", False),
        ("#0 = :2", False),
        ("#0 <> :1", True),
        ("#2 <> :1", True),
        ("#0 < :1", True),
        ("#0 < :2", False),
        ("#0 >= :1", False),
        ("#2 <= :1", False),
        (":1 >= #2", False),
        ("#0 BETWEEN :0 AND :1", True),
        ("#0 IN (:1)", False),
        ("#0 IN (:0, :1)", True),
        ("begins_with (#1, :2)", True),
        ("begins_with (#2, :2)", False),
        ("attribute_exists (#0) AND attribute_not_exists (#2)", True),
        ("(#0 = :1 OR attribute_not_exists (#2))", True),
        ("NOT #0 = :0", False),
        ("NOT (#0 = :1 AND #0 = :0) and #0 between :0 and :1", True),
        ("#0 = :0 OR #0 = :1 AND #0 = :1", True),
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


def customer(key: str, **attributes: Any) -> Item:
    return {"key": {"S": key}, **attributes}


def listed(key: str, block: str, position: int) -> Item:
    return customer(key, list_block={"S": block}, position={"N": str(position)})


def put(item: Item, **arguments: Any) -> dict[str, Any]:
    return {"TableName": CUSTOMERS, "Item": item} | arguments


def put_new(item: Item) -> dict[str, Any]:
    condition = {"ConditionExpression": "attribute_not_exists(#key)"}
    return put(item, **condition, ExpressionAttributeNames={"#key": "key"})


def placeholders(text: str) -> dict[str, Any]:
    """Return the names and values of the placeholders in a text."""
    names = {"#0": "list_block", "#1": "position", "#2": "name", "#3": "key", "#4": "total"}
    values = {
        ":0": {"S": "1"},
        ":1": {"N": "2"},
        ":2": {"N": "10"},
        ":3": {"S": "a"},
        ":4": {"S": "2"},
        ":5": {"S": ""},
    }
    used = {
        "ExpressionAttributeNames": {name: names[name] for name in names if name in text},
        "ExpressionAttributeValues": {value: values[value] for value in values if value in text},
    }
    return {kind: each for kind, each in used.items() if each}


def change(key: str, expression: str, unused: str = "", **arguments: Any) -> dict[str, Any]:
    update = {"Key": customer(key), "UpdateExpression": expression}
    return {"TableName": CUSTOMERS, **update, **placeholders(expression + unused), **arguments}


def query(condition: str, index: str = "by_block", **arguments: Any) -> dict[str, Any]:
    text = condition + arguments.get("FilterExpression", "")
    found = {"IndexName": index, "KeyConditionExpression": condition, **placeholders(text)}
    return {"TableName": CUSTOMERS, **found, **arguments}


def change_if(condition: str) -> dict[str, Any]:
    update = change("a", "SET #2 = :3", condition)
    return update | {"ConditionExpression": condition}


def get(projection: str) -> dict[str, Any]:
    read = {"Key": customer("a"), "ProjectionExpression": projection}
    return {"TableName": CUSTOMERS, **read, **placeholders(projection)}


def start(key: Item) -> dict[str, Any]:
    return {"ExclusiveStartKey": key}


def read(*keys: str) -> dict[str, Any]:
    return {"RequestItems": {CUSTOMERS: {"Keys": [customer(key) for key in keys]}}}


def write(*keys: str) -> dict[str, Any]:
    return {"RequestItems": {CUSTOMERS: [{"PutRequest": {"Item": customer(key)}} for key in keys]}}


def transact(*keys: str, size: int = 1) -> dict[str, Any]:
    items = [customer(key, name={"S": "x" * size}) for key in keys]
    return {"TransactItems": [{"Put": put(item)} for item in items]}


@pytest.fixture
def call(cloud: None) -> Iterator[Callable[..., Any]]:
    """Return a function that sends requests to tables with a few customers."""
    client: Any = boto3.client("dynamodb")

    def send(operation: str, **arguments: Any) -> Any:
        return client._make_api_call(operation, arguments)

    tables().clear()
    rows = [listed("a", "1", 10), listed("b", "1", 2), listed("c", "1", 3), listed("d", "2", 1)]
    for row in rows:
        send("PutItem", **put(row))
    yield send
    tables().clear()


def transact_one(kind: str, write: dict[str, Any]) -> dict[str, Any]:
    return {"TransactItems": [{kind: write}]}


def by_email(**arguments: Any) -> dict[str, Any]:
    """Return a query of an index that does not contain the attribute ``name``."""
    request = query("#0 = :0", "by_email", **arguments)
    text = request["KeyConditionExpression"] + "".join(arguments.values())
    request |= placeholders(text)
    request["ExpressionAttributeNames"]["#0"] = "email_hash"
    return request


MANY = [f"k{number}" for number in range(101)]
LARGE = {"S": "x" * MAX_ITEM_BYTES}
KEY = {"TableName": CUSTOMERS, "Key": customer("a")}
OTHER_TYPE = listed("a", "1", 10) | {"position": {"S": "10"}}
LONG_SORT_KEY = {"account_id": {"S": "account"}, "kind": {"S": "k" * 1025}}
INVALID: dict[str, tuple[str, dict[str, Any]]] = {
    "unknown index": ("Query", query("#0 = :0", "by_nothing")),
    "consistent read of an index": ("Query", query("#0 = :0", ConsistentRead=True)),
    "no partition key": ("Query", query("#1 = :1")),
    "condition on another attribute": ("Query", query("#0 = :0 AND #2 = :3")),
    "two conditions on a key": ("Query", query("#0 = :0 AND #1 > :1 AND #1 < :2")),
    "alternative keys": ("Query", query("#0 = :0 OR #0 = :3")),
    "filter on a key": ("Query", query("#0 = :0", FilterExpression="#1 = :1")),
    "limit 0": ("Query", query("#0 = :0", Limit=0)),
    "start without all keys": ("Query", query("#0 = :0", ExclusiveStartKey=customer("a"))),
    "unused value": ("UpdateItem", change("a", "SET #4 = :1", ":2")),
    "unused name": ("UpdateItem", change("a", "SET #4 = :1", "#2")),
    "undefined value": ("UpdateItem", change("a", "SET #4 = :9")),
    "undefined name": ("UpdateItem", change("a", "SET #9 = :1")),
    "syntax": ("UpdateItem", change("a", "SET #4 := :1")),
    "reserved word": ("UpdateItem", change("a", "SET total = :1")),
    "same attribute twice": ("UpdateItem", change("a", "SET #4 = :1 REMOVE #4")),
    "change of the key": ("UpdateItem", change("a", "SET #3 = :3")),
    "missing attribute": ("UpdateItem", change("a", "SET #4 = #4 + :1")),
    "number and text": ("UpdateItem", change("a", "ADD #0 :1")),
    "type of an index key": ("UpdateItem", change("a", "SET #0 = :1")),
    "empty index key": ("PutItem", put(customer("e", list_block={"S": ""}))),
    "empty key": ("PutItem", put(customer(""))),
    "missing key": ("PutItem", put({"name": {"S": "Zoé"}})),
    "type of the key": ("PutItem", put({"key": {"N": "1"}})),
    "long key": ("PutItem", put(customer("k" * 2049))),
    "large row": ("PutItem", put(customer("e", name=LARGE))),
    "empty set": ("PutItem", put(customer("e", sources={"SS": []}))),
    "new values of a put": ("PutItem", put(customer("e"), ReturnValues="ALL_NEW")),
    "key with another attribute": ("DeleteItem", {"TableName": CUSTOMERS, "Key": ROW}),
    "bounds exchanged": ("Query", query("#0 = :0 AND #1 BETWEEN :2 AND :1")),
    "bounds of two types": ("UpdateItem", change_if("#4 BETWEEN :1 AND :3")),
    "type of the partition key": ("Query", query("#0 = :1")),
    "type of the sort key": ("Query", query("#0 = :0 AND #1 > :3")),
    "empty partition key": ("Query", query("#0 = :5")),
    "beginning of a number": ("Query", query("#0 = :0 AND begins_with (#1, :1)")),
    "start in another partition": ("Query", query("#0 = :0", **start(listed("d", "2", 1)))),
    "start before the range": ("Query", query("#0 = :0 AND #1 > :1", **start(listed("b", "1", 2)))),
    "start with a key of another type": ("Query", query("#0 = :0", **start(OTHER_TYPE))),
    "start with another attribute": (
        "Query",
        query("#0 = :0", **start(listed("a", "1", 10) | ROW)),
    ),
    "empty start": ("Query", query("#0 = :0", **start({}))),
    "projection outside of the index": ("Query", by_email(ProjectionExpression="#3, #2")),
    "filter outside of the index": ("Query", by_email(FilterExpression="#2 = :3")),
    "attribute twice in a projection": ("GetItem", get("#2, #2")),
    "function in a projection": ("GetItem", get("attribute_exists (#2)")),
    "text as number": ("PutItem", put(customer("e", total={"N": "1_000"}))),
    "infinite number": ("PutItem", put(customer("e", total={"N": "Infinity"}))),
    "39 digits": ("PutItem", put(customer("e", total={"N": "1" * 39}))),
    "large number": ("PutItem", put(customer("e", total={"N": "1e126"}))),
    "39 digits in a list": ("PutItem", put(customer("e", totals={"L": [{"N": "1" * 39}]}))),
    "value of two types": ("PutItem", put(customer("e", total={"N": "1", "S": "1"}))),
    "duplicate in a set": ("PutItem", put(customer("e", sources={"SS": ["a", "a"]}))),
    "duplicate number in a set": ("PutItem", put(customer("e", totals={"NS": ["1", "1.0"]}))),
    "long key of an index": ("PutItem", put(customer("e", list_block={"S": "k" * 2049}))),
    "long sort key": ("PutItem", put(LONG_SORT_KEY, TableName=COUNTERS)),
    "long sort key of an index": ("PutItem", put(customer("k" * 1025, email_hash={"S": "a"}))),
    "if_not_exists in a condition": ("UpdateItem", change_if("if_not_exists (#4, :1) = :1")),
    "predicate in an update": ("UpdateItem", change("a", "SET #4 = attribute_exists (#2)")),
    "function of a value": ("UpdateItem", change_if("attribute_exists (:3)")),
    "change of a value": ("UpdateItem", change("a", "SET :1 = :2")),
    "removal of a value": ("UpdateItem", change("a", "REMOVE :1")),
    "addition of an attribute": ("UpdateItem", change("a", "ADD #4 #1")),
    "101 listed values": ("UpdateItem", change_if(f"#4 IN ({', '.join([':1'] * 101)})")),
    "long expression": ("UpdateItem", change_if(" OR ".join(["#4 = :1"] * 500))),
    "check without a condition": ("TransactWriteItems", transact_one("ConditionCheck", KEY)),
    "update without an expression": ("TransactWriteItems", transact_one("Update", KEY)),
    "long token": ("TransactWriteItems", transact("e") | {"ClientRequestToken": "t" * 37}),
    "unknown write of a batch": ("BatchWriteItem", {"RequestItems": {CUSTOMERS: [{"Get": KEY}]}}),
    "same key twice": ("BatchGetItem", read("a", "a")),
    "101 keys": ("BatchGetItem", read(*MANY)),
    "26 writes": ("BatchWriteItem", write(*MANY[:26])),
    "same row twice in a batch": ("BatchWriteItem", write("e", "e")),
    "same row twice in a transaction": ("TransactWriteItems", transact("e", "e")),
    "101 writes": ("TransactWriteItems", transact(*MANY)),
    "more than 4 MB": ("TransactWriteItems", transact(*MANY[:11], size=390_000)),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_request_is_rejected(call: Callable[..., Any], name: str) -> None:
    operation, arguments = INVALID[name]
    with pytest.raises(ClientError) as raised:
        call(operation, **arguments)
    assert raised.value.response["Error"]["Code"] == "ValidationException"


@pytest.mark.parametrize(
    ("operation", "arguments", "code"),
    [
        ("clear", {}, "UnknownOperationException"),
        ("TransactWriteItems", transact_one("Get", KEY), "ValidationException"),
        ("TransactWriteItems", {"TransactItems": [{"Put": KEY, "Update": KEY}]}, "Validation"),
    ],
)
def test_unknown_action_is_rejected(operation: str, arguments: Any, code: str) -> None:
    with pytest.raises(ClientError, match=code):
        Tables("test", lambda: 0.0).respond(operation, arguments)


def reasons_of(error: ClientError) -> list[dict[str, Any]]:
    response: Any = error.response
    return list(response["CancellationReasons"])


def test_transaction_with_failed_condition_writes_nothing(call: Callable[..., Any]) -> None:
    failing = put_new(listed("a", "1", 4)) | {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    with pytest.raises(ClientError) as raised:
        call(
            "TransactWriteItems",
            TransactItems=[
                {"Put": put_new(listed("e", "1", 5))},
                {"Put": failing},
                {"Put": put_new(listed("b", "1", 6))},
            ],
        )
    none, with_row, without_row = reasons_of(raised.value)
    assert none["Code"] == "None"
    assert with_row["Code"] == without_row["Code"] == "ConditionalCheckFailed"
    assert with_row["Item"] == listed("a", "1", 10)
    assert "Item" not in without_row
    assert positions(call("Query", **query("#0 = :0"))) == [2, 3, 10]


def test_invalid_write_of_transaction_is_its_reason(call: Callable[..., Any]) -> None:
    with pytest.raises(ClientError) as raised:
        call(
            "TransactWriteItems",
            TransactItems=[
                {"Put": put(customer("e"))},
                {"Update": change("a", "SET #4 = #4 + :1")},
            ],
        )
    assert [reason["Code"] for reason in reasons_of(raised.value)] == ["None", "ValidationError"]


def test_repeated_transaction_has_no_further_effect(call: Callable[..., Any]) -> None:
    token = new_id()
    add = [{"Update": change("a", "ADD #4 :1")}]
    for _ in range(2):
        call("TransactWriteItems", TransactItems=add, ClientRequestToken=token)
    assert call("GetItem", TableName=CUSTOMERS, Key=customer("a"))["Item"]["total"] == {"N": "2"}
    other = [{"Update": change("b", "ADD #4 :1")}]
    with pytest.raises(ClientError, match="IdempotentParameterMismatch"):
        call("TransactWriteItems", TransactItems=other, ClientRequestToken=token)


def test_transaction_with_token_of_ten_minutes_ago_is_processed_again() -> None:
    now = 0.0
    memory = Tables("test", lambda: now)
    request = {"TransactItems": [{"Update": change("a", "ADD #4 :1")}], "ClientRequestToken": "1"}
    totals = []
    for time in (0.0, 599.9, 600.0):
        now = time
        memory.respond("TransactWriteItems", request)
        totals += [row["total"]["N"] for row in memory.rows("customers").values()]
    assert totals == ["2", "2", "4"]


def positions(response: Any) -> list[int]:
    return [int(item["position"]["N"]) for item in response["Items"]]


def test_index_follows_updates_of_its_keys(call: Callable[..., Any]) -> None:
    assert positions(call("Query", **query("#0 = :0 AND #1 BETWEEN :1 AND :2"))) == [2, 3, 10]
    updated_row = call("UpdateItem", **change("c", "SET #0 = :4", ReturnValues="ALL_NEW"))
    assert updated_row["Attributes"] == listed("c", "2", 3)
    assert positions(call("Query", **query("#0 = :0"))) == [2, 10]
    call("UpdateItem", **change("b", "REMOVE #0"))
    assert positions(call("Query", **query("#0 = :0", ScanIndexForward=False))) == [10]


@pytest.mark.parametrize("is_forward", [True, False])
def test_pages_of_query_end_at_limit(call: Callable[..., Any], is_forward: bool) -> None:
    """A page that ends at the limit has a key, even if no further row exists."""
    request = query("#0 = :0", Limit=3, ScanIndexForward=is_forward)
    first = call("Query", **request)
    assert positions(first) == ([2, 3, 10] if is_forward else [10, 3, 2])
    second = call("Query", **request, ExclusiveStartKey=first["LastEvaluatedKey"])
    assert (second["Items"], "LastEvaluatedKey" in second) == ([], False)


def test_page_ends_at_one_megabyte(call: Callable[..., Any]) -> None:
    for number in range(4):
        row = listed(f"large{number}", "9", number) | {"name": {"S": "x" * 390_000}}
        call("PutItem", **put(row))
    request = query("#0 = :0", ExpressionAttributeValues={":0": {"S": "9"}})
    first = call("Query", **request)
    assert positions(first) == [0, 1, 2]
    assert positions(call("Query", **request, ExclusiveStartKey=first["LastEvaluatedKey"])) == [3]


def test_filter_is_applied_after_limit(call: Callable[..., Any]) -> None:
    limited = query("#0 = :0", FilterExpression="#2 = :3", Limit=2, Select="COUNT")
    response = call("Query", **limited)
    assert (response["Count"], response["ScannedCount"]) == (0, 2)
    assert "Items" not in response


def test_batch_of_more_than_16_megabytes_is_read_in_part(call: Callable[..., Any]) -> None:
    keys = [customer(f"large{number}") for number in range(45)]
    for key in keys:
        call("PutItem", **put(key | {"name": {"S": "x" * 390_000}}))
    response = call("BatchGetItem", RequestItems={CUSTOMERS: {"Keys": keys}})
    read = len(response["Responses"][CUSTOMERS])
    unread = response["UnprocessedKeys"][CUSTOMERS]["Keys"]
    assert (read, len(unread)) == (43, 2)


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("ALL_OLD", customer("n", total={"N": "1"}, name={"S": "Zoé"})),
        ("ALL_NEW", customer("n", total={"N": "3"}, name={"S": "Zoé"})),
        ("UPDATED_OLD", {"total": {"N": "1"}}),
        ("UPDATED_NEW", {"total": {"N": "3"}}),
        ("NONE", None),
    ],
)
def test_update_returns_values(call: Callable[..., Any], returned: str, expected: Any) -> None:
    call("PutItem", **put(customer("n", total={"N": "1"}, name={"S": "Zoé"})))
    response = call("UpdateItem", **change("n", "ADD #4 :1", ReturnValues=returned))
    assert response.get("Attributes") == expected


def test_update_creates_missing_row_with_its_key(call: Callable[..., Any]) -> None:
    key = {"account_id": {"S": "account"}, "kind": {"S": "customers"}}
    for total in ("2", "4"):
        call("UpdateItem", **(change("", "ADD #4 :1") | {"TableName": COUNTERS, "Key": key}))
        projected = {
            "ProjectionExpression": "#0, #1",
            "ExpressionAttributeNames": {"#0": "kind", "#1": "missing"},
        }
        row = call("GetItem", TableName=COUNTERS, Key=key, **projected)
        assert row["Item"] == {"kind": {"S": "customers"}}
        row = call("GetItem", TableName=COUNTERS, Key=key)
        assert row["Item"]["total"] == {"N": total}


def test_index_and_stale_reads_lag_behind() -> None:
    now = 0.0
    memory = Tables("test", lambda: now, is_stale=lambda: True)
    memory.lag_s = 2
    memory.respond("PutItem", put(listed("a", "1", 1)))
    read = {"TableName": CUSTOMERS, "Key": customer("a")}
    assert memory.respond("GetItem", read) == {}
    assert memory.respond("GetItem", read | {"ConsistentRead": True})["Item"]
    assert memory.respond("Query", query("#0 = :0"))["Items"] == []
    now = 3
    assert memory.respond("GetItem", read)["Item"]
    assert memory.respond("Query", query("#0 = :0"))["Items"]


def test_stale_pages_of_table_contain_rows_as_before() -> None:
    now = 0.0
    memory = Tables("test", lambda: now, is_stale=lambda: True)
    names = [{"account_id": {"S": "account"}, "kind": {"S": kind}} for kind in "abcd"]
    same, changed, deleted, new = [{**key, "total": {"N": "1"}} for key in names]

    def write(operation: str, **arguments: Any) -> None:
        memory.respond(operation, {"TableName": COUNTERS, **arguments})

    def pages(**arguments: Any) -> list[Any]:
        keys = {"KeyConditionExpression": "account_id = :0"}
        values = {"ExpressionAttributeValues": {":0": {"S": "account"}}}
        table: dict[str, Any] = {"TableName": COUNTERS, **arguments}
        reads = [("Query", keys | values), ("Scan", {})]
        return [memory.respond(name, table | read)["Items"] for name, read in reads]

    for row in (same, changed, deleted):
        write("PutItem", Item=row)
    now = 2
    write("PutItem", Item={**changed, "total": {"N": "2"}})
    write("DeleteItem", Key=names[2])
    write("PutItem", Item=new)
    assert pages() == [[same, changed, deleted]] * 2
    current = [[same, {**changed, "total": {"N": "2"}}, new]] * 2
    assert pages(ConsistentRead=True) == current
    now = 3
    assert pages() == current


def test_conflict_has_one_reason_for_each_write(call: Callable[..., Any]) -> None:
    with inject_fault(0, InjectedFault.CONFLICT), pytest.raises(ClientError) as raised:
        call("TransactWriteItems", **transact("e", "f", "g"))
    codes = [reason["Code"] for reason in reasons_of(raised.value)]
    assert codes == ["None", "None", "TransactionConflict"]


def test_transaction_can_be_visible_in_part() -> None:
    now = 0.0
    memory = Tables("test", lambda: now, delays_s=lambda _: [0, 5])
    writes = [{"Put": put(customer(key))} for key in "ab"]
    memory.respond("TransactWriteItems", {"TransactItems": writes, "ClientRequestToken": "1"})
    keys = {"Keys": [customer("a"), customer("b")], "ConsistentRead": True}
    read = {"RequestItems": {CUSTOMERS: keys}}
    assert memory.respond("BatchGetItem", read)["Responses"] == {CUSTOMERS: [customer("a")]}
    with pytest.raises(ClientError, match="TransactionConflict"):
        memory.respond("UpdateItem", change("b", "ADD #4 :1"))
    unprocessed = memory.respond("BatchWriteItem", write("b", "c"))["UnprocessedItems"]
    assert {"RequestItems": unprocessed} == write("b")
    now = memory.visible_at("1")
    assert len(memory.respond("BatchGetItem", read)["Responses"][CUSTOMERS]) == 2
