"""Retry schedule of failed webhook attempts.

The delays between attempts are 1, 6, 36 and 216 minutes and then six hours each, plus up to 15% of
jitter. Eight attempts take about 24 hours.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Final

BASE_DELAY: Final = timedelta(minutes=1)
MAX_DELAY: Final = timedelta(hours=6)

_FACTOR: Final = 6
_JITTER: Final = 0.15
_STEPS_TO_LONGEST: Final = 4
_SECONDS: Final = re.compile(r"[0-9]+")


class Verdict(StrEnum):
    """The decision about an execution after a failed attempt: retry it or give up."""

    RETRY = "RETRY"
    FAILED = "FAILED"
    """The last allowed attempt failed."""
    STOPPED = "STOPPED"
    """The receiver responded 410 Gone."""


@dataclass(frozen=True)
class Decision:
    """The verdict and, if the execution is retried, the time of the next attempt."""

    verdict: Verdict
    retry_at: datetime | None = None


def after_failure(
    *,
    attempt: int,
    attempts_allowed: int,
    now: datetime,
    status: int | None = None,
    retry_after: str | None = None,
    chance: Callable[[], float] = random.random,
) -> Decision:
    """Decide whether and when to retry after a failed attempt.

    Args:
        attempt: the number of the attempt, from 1.
        attempts_allowed: the maximum number of attempts.
        status: the response status, if there was a response.
        retry_after: the ``Retry-After`` header (RFC 9110, section 10.2.3), if present. An invalid
            value is ignored.
        chance: returns a random number from 0 (inclusive) to 1 (exclusive).
    """
    if status == HTTPStatus.GONE:
        return Decision(Verdict.STOPPED)
    if attempt >= attempts_allowed:
        return Decision(Verdict.FAILED)
    requested = retry_after_delay(retry_after, now)
    delay = backoff_delay(attempt, chance()) if requested is None else requested
    return Decision(Verdict.RETRY, now + delay)


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

    The delay is limited to the range from one minute to six hours.
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
