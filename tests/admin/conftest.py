"""What holds for all tests of the command line."""

import pytest

from admin.definitions import save as document_writing


@pytest.fixture(autouse=True)
def _one_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    # Moto copies whole tables in a transaction, which two threads cannot do at once.
    monkeypatch.setattr(document_writing, "MAX_WRITERS", 1)
