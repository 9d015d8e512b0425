"""Fixtures for tests of services."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.sqs.models import sqs_backends

from tests.web.seeded_account import SeededAccount, seed_account


@pytest.fixture(scope="module")
def seed(cloud: None) -> Callable[[], SeededAccount]:
    """Return a function that writes the rows of an account with forms into the empty tables.

    All tests of a module get the same account, because copies of its rows take less time than
    `seed_account`.
    """
    delete_rows_and_messages()
    account = seed_account()
    rows = {name: copy.deepcopy(table.items) for name, table in _tables().items() if table.items}

    def restore() -> SeededAccount:
        for name, items in rows.items():
            _tables()[name].items.update(copy.deepcopy(items))
        return account

    return restore


@pytest.fixture
def seeded(account: str, seed: Callable[[], SeededAccount]) -> SeededAccount:
    """Create an account with forms that accept submissions."""
    return seed()


@pytest.fixture(autouse=True)
def empty_tables() -> None:
    """Delete the rows of earlier tests, because moto examines all rows for each query and scan."""
    delete_rows_and_messages()


def delete_rows_and_messages() -> None:
    """Empty all tables and queues of moto."""
    for table in _tables().values():
        table.items.clear()
    for queue in sqs_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].queues.values():
        queue._messages.clear()
        queue.deleted_messages.clear()
        queue._pending_messages.clear()


def _tables() -> dict[str, Any]:
    return dynamodb_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].tables


@pytest.fixture(autouse=True)
def one_group_of_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all accounts use the same four shards, so that a sweep sends 4 queries instead of 32."""
    monkeypatch.setattr("chalicelib.domain.work._ACCOUNT_GROUPS", 1)
