"""Fixtures for tests of the demo data."""

import pytest

from tests.web.seeded_account import SeededAccount, seed_account


@pytest.fixture
def seeded(account: str) -> SeededAccount:
    """Create an account with forms that accept submissions."""
    return seed_account()
