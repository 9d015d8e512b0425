"""Fixtures for tests of services."""

import pytest

from tests.web.seeded_account import SeededAccount, seed_account


@pytest.fixture
def seeded(account: str) -> SeededAccount:
    """Create an account with forms that accept submissions."""
    return seed_account()


@pytest.fixture(autouse=True)
def one_group_of_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all accounts use the same four shards, so that a sweep sends 4 queries instead of 32."""
    monkeypatch.setattr("chalicelib.domain.work._ACCOUNT_GROUPS", 1)
