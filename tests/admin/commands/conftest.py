"""Fixtures for tests of commands that concern surveys."""

from tests.services.solicitation.conftest import provider, shop

__all__ = ["provider", "shop"]
