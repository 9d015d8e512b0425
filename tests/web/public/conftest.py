"""Fixtures for tests of public forms."""

from datetime import UTC, datetime

import pytest
from chalice.test import Client

from chalicelib.domain import clock
from chalicelib.services.feedback import limit_submissions
from chalicelib.settings import Settings
from tests.web.seeded_account import SeededAccount, seed_account


@pytest.fixture(scope="module")
def seeded(client: Client) -> SeededAccount:
    """Create an account with forms, shared by the tests of a module."""
    return seed_account()


@pytest.fixture
def fresh(client: Client) -> SeededAccount:
    """Create an account whose forms the test may change."""
    return seed_account()


@pytest.fixture
def limit_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit submissions to two per minute, source and form.

    Set the clock 20 seconds after a full minute.
    """
    start = datetime(2026, 11, 20, 10, 0, 20, tzinfo=UTC)
    limited = Settings("test", "eu-west-1", submissions=2, submission_window_s=60)
    monkeypatch.setattr(limit_submissions, "settings", lambda: limited)
    monkeypatch.setattr(clock, "now", lambda: start)
