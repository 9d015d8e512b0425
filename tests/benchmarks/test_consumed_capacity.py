"""Tests of the computation of the row sizes that DynamoDB bills."""

from typing import Any

import pytest

from benchmarks.capacity import consumed_capacity, row_bytes
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.clock import now
from chalicelib.domain.ids import new_id
from chalicelib.storage import accounts
from chalicelib.storage.accounts import AccountRow
from chalicelib.storage.dynamodb.table import connection, read_together


@pytest.mark.parametrize(
    ("row", "size"),
    [
        ({"name": {"S": "Zoé"}}, 4 + 4),
        ({"n": {"N": "12345"}}, 1 + 4),
        ({"b": {"B": b"12"}, "set": {"SS": ["a", "bc"]}}, 1 + 2 + 3 + 3),
        ({"yes": {"BOOL": True}, "no": {"NULL": True}}, 3 + 1 + 2 + 1),
        ({"l": {"L": [{"S": "a"}]}, "m": {"M": {"k": {"S": "v"}}}}, 1 + 3 + 2 + 1 + 3 + 2 + 1),
    ],
)
def test_row_size_includes_attribute_names_and_values(row: dict[str, Any], size: int) -> None:
    assert row_bytes(row) == size


def test_only_requests_inside_context_are_counted(cloud: None) -> None:
    account = Account(new_id(), "x" * 5000, now())
    accounts.save(account)
    with consumed_capacity(connection().client) as consumed:
        accounts.find(account.id)
        accounts.find(account.id)
    accounts.find(account.id)
    assert (consumed.rows, consumed.read_units_by_size) == (2, 2.0)


def test_batch_read_is_billed_per_row_including_missing_rows(cloud: None) -> None:
    account = Account(new_id(), "x" * 5000, now())
    accounts.save(account)
    with consumed_capacity(connection().client) as consumed:
        read_together((AccountRow, account.id), (AccountRow, new_id()))
    assert (consumed.rows, consumed.read_units_by_size) == (1, 3.0)
