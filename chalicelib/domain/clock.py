"""The only source of the current time in the service. Tests replace `now`."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

_fixed: ContextVar[datetime | None] = ContextVar("fixed", default=None)


@contextmanager
def fixed_at(timestamp: datetime) -> Iterator[None]:
    """Fix the current time inside the ``with`` block, to create records with an earlier time.

    Other threads are not affected.
    """
    token = _fixed.set(timestamp)
    try:
        yield
    finally:
        _fixed.reset(token)


def now() -> datetime:
    """Return the current time in UTC, truncated to milliseconds."""
    timestamp = _fixed.get() or datetime.now(UTC)
    return timestamp.replace(microsecond=timestamp.microsecond // 1000 * 1000)


def within(second: datetime) -> datetime:
    """Return the current time, or the nearest time in this second if the clock is wrong.

    AWS states the time of its responses in full seconds. Records that erasures compare with their
    own time must not depend on the clock of one process. A time that `fixed_at` fixes stays.
    """
    if _fixed.get():
        return now()
    return min(max(now(), second), second + timedelta(milliseconds=999))
