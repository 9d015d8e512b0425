"""Determine the remaining time of a Lambda invocation."""

from math import inf
from typing import Any


def time_left_s(event: Any) -> float:
    """Return the seconds until Lambda stops the invocation. Outside Lambda, return infinity."""
    remaining_ms = getattr(event.context, "get_remaining_time_in_millis", None)
    return remaining_ms() / 1000 if remaining_ms else inf
