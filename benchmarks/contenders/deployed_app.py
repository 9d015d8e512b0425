"""Serve the read endpoints with the deployed app, including its validation, log and metrics."""

from app import app as handler

__all__ = ["handler"]
