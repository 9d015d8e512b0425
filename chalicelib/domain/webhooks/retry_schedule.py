"""What follows a webhook attempt that failed: another one and when, or none.

Eight attempts take about 24 hours: 1, 6, 36 and 216 minutes apart and then six hours each, each
wait up to 15 % longer at random, so that what failed together does not come back together.
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

DEFAULT_ATTEMPTS: Final = 8
BASE_DELAY: Final = timedelta(minutes=1)
MAX_DELAY: Final = timedelta(hours=6)

_FACTOR: Final = 6
_JITTER: Final = 0.15
_STEPS_TO_LONGEST: Final = 4
_SECONDS: Final = re.compile(r"[0-9]+")


class Verdict(StrEnum):
    """What becomes of an execution after a failed attempt."""

    RETRY = "RETRY"
    FAILED = "FAILED"
    """Its attempts are used up."""
    STOPPED = "STOPPED"
    """The receiver said that it is gone for good."""


@dataclass(frozen=True)
class Decision:
    """What becomes of it, and when it is tried again, if it is."""

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
    """What follows a failed attempt.

    Args:
        attempt: its number, from 1.
        attempts_allowed: how many there may be in all.
        status: what the receiver answered, if it did.
        retry_after: its ``Retry-After`` header (RFC 9110, section 10.2.3), if any. One that cannot
            be read is passed over.
        chance: gives a number from 0 up to 1.
    """
    if status == HTTPStatus.GONE:
        return Decision(Verdict.STOPPED)
    if attempt >= attempts_allowed:
        return Decision(Verdict.FAILED)
    asked = retry_after_delay(retry_after, now)
    delay = backoff_delay(attempt, chance()) if asked is None else asked
    return Decision(Verdict.RETRY, now + delay)


def backoff_delay(attempt: int, chance: float) -> timedelta:
    """The wait after this attempt, from 1, when the receiver asks for none."""
    growth: int = _FACTOR ** min(attempt - 1, _STEPS_TO_LONGEST)
    return min(BASE_DELAY * growth, MAX_DELAY) * (1 + _JITTER * chance)


def retry_after_delay(retry_after: str | None, now: datetime) -> timedelta | None:
    """The wait that a ``Retry-After`` asks for, between a minute and six hours; None for no ask."""
    text = (retry_after or "").strip()
    if _SECONDS.fullmatch(text):
        # Beyond nine digits it is longer than the longest anyway.
        asked = timedelta(seconds=int(text)) if len(text) < 10 else MAX_DELAY
    else:
        moment = _moment(text)
        if moment is None:
            return None
        asked = moment - now
    return max(BASE_DELAY, min(asked, MAX_DELAY))


def _moment(http_date: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(http_date)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    # A date of HTTP is in GMT; the older forms of it are read as having no zone.
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
