"""Fixtures of the web tests: the app over HTTP, in process."""

from tests.web.conftest import client, known

__all__ = ["client", "known"]
