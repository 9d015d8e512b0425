"""Fixtures for tests of feedback."""

import pytest

from chalicelib.services.feedback import limit_submissions
from chalicelib.settings import Settings


@pytest.fixture
def submission_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enable the submission limit, so that the rate-limit counter counts every submission."""
    limited = Settings("test", "eu-west-1", submissions=50)
    monkeypatch.setattr(limit_submissions, "settings", lambda: limited)
