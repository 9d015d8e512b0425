"""Tests of the faults that the strict layer injects into DynamoDB requests."""

import random
from typing import Any

import pytest

from infrastructure.local_cloud.strict.faults import FaultRates, Faults, IndexLag

TRANSACTION = {"TransactItems": [{"Put": {}}, {"Put": {}}, {"Update": {}}]}
ALWAYS_THROTTLED = FaultRates(throttling=1)
ALWAYS_IN_CONFLICT = FaultRates(conflicts=1)


def faults_with(rates: FaultRates) -> Faults:
    faults = Faults(random.Random(1))
    faults.rates = rates
    return faults


@pytest.mark.parametrize(
    ("rates", "code"),
    [(ALWAYS_THROTTLED, "ThrottlingError"), (ALWAYS_IN_CONFLICT, "TransactionConflict")],
)
@pytest.mark.parametrize("operation", ["TransactWriteItems", "TransactGetItems"])
def test_transaction_is_cancelled_with_one_reason_per_item(
    rates: FaultRates, code: str, operation: str
) -> None:
    error = faults_with(rates).error(operation, TRANSACTION)
    assert error
    assert error.code == "TransactionCanceledException"
    reasons: Any = error.fields["CancellationReasons"]
    assert sorted(reason["Code"] for reason in reasons) == sorted(["None", "None", code])
    assert code in error.message


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem"])
def test_write_in_conflict_fails_with_transaction_conflict(operation: str) -> None:
    error = faults_with(ALWAYS_IN_CONFLICT).error(operation, {})
    assert error
    assert error.code == "TransactionConflictException"


@pytest.mark.parametrize("operation", ["GetItem", "Query", "BatchGetItem"])
def test_read_never_fails_with_conflict(operation: str) -> None:
    assert faults_with(ALWAYS_IN_CONFLICT).error(operation, {}) is None


@pytest.mark.parametrize("operation", ["GetItem", "Query", "Scan", "PutItem"])
def test_throttled_operation_fails_with_throughput_error(operation: str) -> None:
    error = faults_with(ALWAYS_THROTTLED).error(operation, {})
    assert error
    assert error.code == "ProvisionedThroughputExceededException"


def test_throttled_batch_of_one_item_fails_as_a_whole() -> None:
    faults = faults_with(ALWAYS_THROTTLED)
    request = {"RequestItems": {"t": [{"PutRequest": {}}]}}
    assert faults.error("BatchWriteItem", request)
    assert faults.split("BatchWriteItem", request) is None


def test_throttled_batch_of_several_items_writes_only_first_item() -> None:
    faults = faults_with(ALWAYS_THROTTLED)
    request = {"RequestItems": {"t": [1, 2, 3]}, "ReturnConsumedCapacity": "NONE"}
    assert faults.error("BatchWriteItem", request) is None
    assert faults.split("BatchWriteItem", request) == (
        {"RequestItems": {"t": [1]}, "ReturnConsumedCapacity": "NONE"},
        {"t": [2, 3]},
    )


def test_table_management_gets_no_injected_fault() -> None:
    faults = faults_with(FaultRates(throttling=1, conflicts=1))
    assert faults.error("CreateTable", {}) is None
    assert faults.error("DescribeTable", {}) is None


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
