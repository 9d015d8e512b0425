"""Fixtures for all tests of the operator command line."""

import pytest

from admin.definitions import save as document_writing


@pytest.fixture(autouse=True)
def _one_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    # Moto copies all tables in a transaction and is not safe for concurrent threads.
    monkeypatch.setattr(document_writing, "MAX_WRITERS", 1)
