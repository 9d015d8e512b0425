"""Fixtures for tests of services."""

from collections.abc import Callable

import pytest

from tests.aws.stage import copy_rows, delete_rows_and_messages, put_rows
from tests.web.seeded_account import SeededAccount, seed_account


@pytest.fixture(scope="module")
def seed(cloud: None) -> Callable[[], SeededAccount]:
    """Return a function that writes the rows of an account with forms into the empty tables.

    All tests of a module get the same account, because copies of its rows take less time than
    `seed_account`.
    """
    delete_rows_and_messages()
    account = seed_account()
    rows = copy_rows()

    def restore() -> SeededAccount:
        put_rows(rows)
        return account

    return restore


@pytest.fixture
def seeded(account: str, seed: Callable[[], SeededAccount]) -> SeededAccount:
    """Create an account with forms that accept submissions."""
    return seed()


@pytest.fixture(autouse=True)
def empty_tables() -> None:
    """Delete the rows and messages of earlier tests."""
    delete_rows_and_messages()


@pytest.fixture(autouse=True)
def one_group_of_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all accounts use the same four shards, so that a sweep sends 4 queries instead of 32."""
    monkeypatch.setattr("chalicelib.domain.work._ACCOUNT_GROUPS", 1)
