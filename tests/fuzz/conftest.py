"""Fixtures that the fuzz tests share with the web tests."""

from tests.web.conftest import client, known

__all__ = ["client", "known"]
