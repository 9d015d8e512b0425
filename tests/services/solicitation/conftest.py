"""Fixtures for tests of solicitations."""

import pytest

from chalicelib.services.solicitation import send_survey
from tests.services.moved_time import Time
from tests.services.solicitation.provider import Provider
from tests.services.solicitation.soliciting import Shop, open_shop


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    """Replace the provider of messages."""
    provider = Provider()
    monkeypatch.setattr(send_survey, "send_invitation", provider.send)
    return provider


@pytest.fixture
def shop(account: str, time: Time, provider: Provider) -> Shop:
    """Create an account with one store and one survey. The test's provider gets its messages."""
    return open_shop()
