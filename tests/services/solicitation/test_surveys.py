"""Tests of the cached surveys of accounts."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import PageRequest
from chalicelib.services.caching import clear_caches
from chalicelib.services.solicitation import case
from chalicelib.services.solicitation.case import surveys_of
from chalicelib.storage.forms import StoredForm, surveys
from tests.web.seeded_account import SeededAccount


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


def test_size_of_cached_surveys_is_limited(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    stored, _ = surveys.page(seeded.account_id, PageRequest(limit=100))

    class Table:
        def page(self, account_id: str, _: object) -> tuple[list[StoredForm], int]:
            loaded.append(account_id)
            number = 1 if account_id == "small" else 100
            large = b" " * 300_000 + stored[0].document
            return [replace(stored[0], document=large)] * number, number

    clear_caches()
    monkeypatch.setattr(case, "surveys", Table())
    for account_id in ("small", "large", "large", "small", "large"):
        assert len(surveys_of(account_id)) == (1 if account_id == "small" else 100)
    assert loaded == ["small", "large", "small", "large"]
    clear_caches()
