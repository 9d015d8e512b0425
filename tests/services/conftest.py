"""Fixtures for tests of services."""

import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

from tests.web.seeded_account import SeededAccount, seed_account


@pytest.fixture
def seeded(account: str) -> SeededAccount:
    """Create an account with forms that accept submissions."""
    return seed_account()


@pytest.fixture(autouse=True)
def empty_tables() -> None:
    """Delete the rows of earlier tests, because moto examines all rows for each query and scan."""
    for table in dynamodb_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].tables.values():
        table.items.clear()


@pytest.fixture(autouse=True)
def one_group_of_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all accounts use the same four shards, so that a sweep sends 4 queries instead of 32."""
    monkeypatch.setattr("chalicelib.domain.work._ACCOUNT_GROUPS", 1)
