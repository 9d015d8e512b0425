"""Fixtures for all tests of the command line."""

import pytest
import typer

from admin import terminal


@pytest.fixture(autouse=True)
def _unlimited_width(monkeypatch: pytest.MonkeyPatch) -> None:
    # A parallel run of the tests sets the width of its terminal.
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let commands ask for confirmations, answer no, and return the questions."""
    asked: list[str] = []

    def reject(question: str, **_: object) -> None:
        asked.append(question)
        raise typer.Abort

    monkeypatch.setattr(terminal, "can_ask", lambda: True)
    monkeypatch.setattr(terminal.typer, "confirm", reject)
    return asked
