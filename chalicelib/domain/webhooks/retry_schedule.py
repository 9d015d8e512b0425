"""Retry schedule of failed webhook attempts.

The delays between attempts are 1, 6, 36 and 216 minutes and then six hours each, plus up to 15% of
jitter. Eight attempts take about 24 hours.
"""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

BASE_DELAY: Final = timedelta(minutes=1)
MAX_DELAY: Final = timedelta(hours=6)

_FACTOR: Final = 6
_JITTER: Final = 0.15
_STEPS_TO_LONGEST: Final = 4
_SECONDS: Final = re.compile(r"[0-9]+")


def backoff_delay(attempt: int, chance: float) -> timedelta:
    """Return the delay before the next attempt if the receiver sends no ``Retry-After``.

    Args:
        attempt: the number of the failed attempt, from 1.
        chance: a random number from 0 (inclusive) to 1 (exclusive).
    """
    growth: int = _FACTOR ** min(attempt - 1, _STEPS_TO_LONGEST)
    return min(BASE_DELAY * growth, MAX_DELAY) * (1 + _JITTER * chance)


def retry_after_delay(retry_after: str | None, now: datetime) -> timedelta | None:
    """Return the delay that a ``Retry-After`` header requests, or None if it is missing or invalid.

    See RFC 9110, section 10.2.3. The delay is limited to the range from one minute to six hours.
    """
    text = (retry_after or "").strip()
    if _SECONDS.fullmatch(text):
        # A number with more than nine digits exceeds the maximum delay anyway.
        requested = timedelta(seconds=int(text)) if len(text) < 10 else MAX_DELAY
    else:
        timestamp = _parse_http_date(text)
        if timestamp is None:
            return None
        requested = timestamp - now
    return max(BASE_DELAY, min(requested, MAX_DELAY))


def _parse_http_date(http_date: str) -> datetime | None:
    try:
        timestamp = parsedate_to_datetime(http_date)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    # HTTP dates are in GMT. For the obsolete date formats, the parser returns a date without a time
    # zone.
    return timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)
