"""A clock that a test can move ahead."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from types import SimpleNamespace

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


@contextmanager
def wrong_clock(ahead: timedelta) -> Iterator[None]:
    """Make the clock of the process differ from that of DynamoDB in the ``with`` block."""
    real = clock.now
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.aws.stage.clock", SimpleNamespace(now=real))
        patch.setattr(clock, "now", lambda: real() + ahead)
        yield
