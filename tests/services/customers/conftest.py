"""Fixtures for tests of imports."""

import pytest


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the chunk size to four rows, so that a small batch has two chunks."""
    monkeypatch.setattr("chalicelib.domain.customers.import_batch.MAX_CHUNK_ACTIONS", 8)
