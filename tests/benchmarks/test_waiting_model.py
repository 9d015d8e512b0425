"""Tests of the model that counts only waiting."""

from benchmarks.waiting_model import REQUEST_S, waiting_model
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.dynamodb.table import forget_connection
from chalicelib.storage.dynamodb.transactions import Contention, transaction


def count(account_id: str) -> None:
    with transaction() as write:
        row = CounterRow(account_id, Listed.CUSTOMERS.value)
        write.update(row, actions=[CounterRow.total.add(1)])


def test_requests_of_concurrent_workers_overlap() -> None:
    forget_connection()
    with waiting_model() as model:
        jobs = [lambda number=number: count(str(number)) for number in range(6)]
        assert round(model.run(3, jobs) / REQUEST_S) == 2
    forget_connection()


def test_concurrent_transactions_on_one_row_conflict() -> None:
    forget_connection()
    failed: list[bool] = []

    def try_count() -> None:
        try:
            count("a")
        except Contention as contention:
            failed.append(contention.condition_failed)

    with waiting_model() as model:
        model.run(3, [try_count] * 3)
        assert (failed, model.conflicts) == ([False, False], 2)
    forget_connection()
