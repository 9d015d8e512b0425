"""The app as deployed, including credentials, paging, log line and metrics."""

from app import app as handler

__all__ = ["handler"]
