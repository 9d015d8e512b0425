"""A clock that a test can move ahead."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from chalicelib.domain import clock


class Time:
    """A clock that returns the real time plus an offset that the test sets."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self, real: Callable[[], datetime]) -> datetime:
        return real() + self.ahead


def move_time(monkeypatch: pytest.MonkeyPatch) -> Time:
    """Replace the service's clock with a clock that the test can move. Disable the retry delays."""
    movable_time, real = Time(), clock.now
    monkeypatch.setattr(clock, "now", lambda: movable_time.now(real))
    monkeypatch.setattr("chalicelib.backoff.time.sleep", lambda _: None)
    return movable_time
