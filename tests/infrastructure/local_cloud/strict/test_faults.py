"""Tests of the faults that the strict layer injects into DynamoDB requests."""

import asyncio
import json
import random
from typing import Any

import pytest

from infrastructure.local_cloud.strict.faults import FaultRates, Faults, IndexLag, with_faults

TRANSACTION = {"TransactItems": [{"Put": {}}, {"Put": {}}, {"Update": {}}]}
ALWAYS_THROTTLED = FaultRates(throttling=1)
ALWAYS_IN_CONFLICT = FaultRates(conflicts=1)


def faults_with(rates: FaultRates) -> Faults:
    faults = Faults(random.Random(1))
    faults.rates = rates
    return faults


def send(rates: FaultRates, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the body of the response. The emulator responds with what it executes."""

    async def execute(_method: str, _path: str, _headers: Any, body: bytes, _query: Any) -> Any:
        return 200, {}, json.dumps({"executed": json.loads(body)}).encode()

    handle = with_faults(execute, faults_with(rates))
    headers = {"x-amz-target": f"DynamoDB_20120810.{operation}"}
    _, _, body = asyncio.run(handle("POST", "/", headers, json.dumps(request).encode(), {}))
    content: dict[str, Any] = json.loads(body)
    return content


@pytest.mark.parametrize(
    ("rates", "code"),
    [(ALWAYS_THROTTLED, "ThrottlingError"), (ALWAYS_IN_CONFLICT, "TransactionConflict")],
)
@pytest.mark.parametrize("operation", ["TransactWriteItems", "TransactGetItems"])
def test_transaction_is_cancelled_with_one_reason_per_item(
    rates: FaultRates, code: str, operation: str
) -> None:
    error = send(rates, operation, TRANSACTION)
    assert error["__type"] == "TransactionCanceledException"
    codes = [reason["Code"] for reason in error["CancellationReasons"]]
    assert sorted(codes) == sorted(["None", "None", code])
    assert code in error["message"]


@pytest.mark.parametrize(
    ("rates", "operations", "error"),
    [
        (ALWAYS_IN_CONFLICT, "PutItem UpdateItem DeleteItem", "TransactionConflictException"),
        (ALWAYS_IN_CONFLICT, "GetItem Query BatchGetItem", None),
        (ALWAYS_THROTTLED, "GetItem Query Scan PutItem", "ProvisionedThroughputExceededException"),
        (FaultRates(throttling=1, conflicts=1), "CreateTable DescribeTable", None),
        (FaultRates(slow=1, slow_s=0), "GetItem PutItem", None),
    ],
)
def test_fault_concerns_only_some_operations(
    rates: FaultRates, operations: str, error: str | None
) -> None:
    for operation in operations.split():
        assert send(rates, operation, {}).get("__type") == error


def test_throttled_batch_of_one_item_fails_as_a_whole() -> None:
    error = send(ALWAYS_THROTTLED, "BatchWriteItem", {"RequestItems": {"t": [{}]}})
    assert error["__type"] == "ProvisionedThroughputExceededException"


def test_throttled_batch_of_several_items_writes_only_first_item() -> None:
    request = {"RequestItems": {"t": [1, 2, 3]}, "ReturnConsumedCapacity": "NONE"}
    assert send(ALWAYS_THROTTLED, "BatchWriteItem", request) == {
        "executed": {"RequestItems": {"t": [1]}, "ReturnConsumedCapacity": "NONE"},
        "UnprocessedItems": {"t": [2, 3]},
    }


def test_share_of_failed_operations_is_close_to_fault_rate() -> None:
    faults = faults_with(FaultRates(throttling=0.1))
    errors = [faults.error("GetItem", {}) for _ in range(10_000)]
    assert 900 < sum(error is not None for error in errors) < 1_100
    assert faults.injected["throttling"] == sum(error is not None for error in errors)


def test_index_shows_state_before_first_write_until_lag_ends() -> None:
    now = [0.0]
    lag = IndexLag(faults_with(FaultRates(index_lag=1, index_lag_s=2)), lambda: now[0])
    created, changed = ("a", "1"), ("b", "1")
    lag.record_write("t", created, None)
    lag.record_write("t", changed, {"v": 1})
    now[0] = 1.0
    lag.record_write("t", changed, {"v": 2})
    assert lag.previous_items("t") == {created: None, changed: {"v": 1}}
    assert lag.previous_items("other") == {}
    now[0] = 2.0
    assert lag.previous_items("t") == {}


def test_index_shows_current_state_if_lag_is_off() -> None:
    lag = IndexLag(faults_with(FaultRates()))
    lag.record_write("t", ("a", "1"), None)
    assert lag.previous_items("t") == {}
