"""The app as it is deployed: credentials, paging, log line and metrics included."""

from app import app as handler

__all__ = ["handler"]
