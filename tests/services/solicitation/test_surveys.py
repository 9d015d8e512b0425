"""Tests of the cached surveys of accounts."""

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.services.caching import clear_caches
from chalicelib.services.solicitation import case
from chalicelib.services.solicitation.case import surveys_of


def test_surveys_of_many_accounts_are_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    class Table:
        def page(self, account_id: str, _: object) -> tuple[list[Any], int]:
            loaded.append(account_id)
            return [], 0

    clear_caches()
    monkeypatch.setattr(case, "surveys", Table())
    accounts = [new_id() for _ in range(200)]
    for account_id in 2 * accounts:
        surveys_of(account_id)
    assert loaded == accounts
