"""Fixtures for tests of services."""

import pytest

from tests.web.opened import Opened, open_account


@pytest.fixture
def opened(account: str) -> Opened:
    """Create an account with forms that accept submissions."""
    return open_account()
