"""Fixtures for all tests of the operator command line."""

import pytest

from admin.definitions import save


@pytest.fixture(autouse=True)
def _single_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    # Moto copies all tables in a transaction and is not safe for concurrent threads.
    monkeypatch.setattr(save, "MAX_WRITERS", 1)
