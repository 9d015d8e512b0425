"""How long a function may still run, so that it begins nothing that it could not end."""

from math import inf
from typing import Any


def time_left_s(event: Any) -> float:
    """Seconds until the event's function is stopped; endless where nothing says so."""
    remaining_ms = getattr(event.context, "get_remaining_time_in_millis", None)
    return remaining_ms() / 1000 if remaining_ms else inf
