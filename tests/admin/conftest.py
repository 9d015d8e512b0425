"""Fixtures for all tests of the command line."""

import pytest

from admin.definitions import save


@pytest.fixture(autouse=True)
def _single_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    # Run without threads: for a transaction, moto copies all tables, and this copying is not
    # thread-safe.
    monkeypatch.setattr(save, "MAX_WRITERS", 1)
