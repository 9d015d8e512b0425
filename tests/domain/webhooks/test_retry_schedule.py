"""Tests of the delay between a failed webhook attempt and the next attempt."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.webhooks.retry_schedule import backoff_delay, retry_after_delay

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SIX_HOURS = timedelta(hours=6)


def retry_delay(retry_after: str | None, attempt: int = 1) -> timedelta:
    return retry_after_delay(retry_after, NOW) or backoff_delay(attempt, 0.0)


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=7, max_size=7))
def test_eight_attempts_span_22_to_26_hours_with_increasing_delays(chances: list[float]) -> None:
    delays = [backoff_delay(attempt, chance) for attempt, chance in enumerate(chances, 1)]
    assert min(delays) >= MINUTE
    assert timedelta(hours=22) < sum(delays, timedelta()) < timedelta(hours=26)
    assert delays[:5] == sorted(delays[:5])


def test_retry_delay_includes_jitter() -> None:
    assert backoff_delay(3, 0.0) < backoff_delay(3, 0.5) < backoff_delay(3, 0.99)


@given(st.integers(1, 10**6), st.floats(0, 1, exclude_max=True))
def test_retry_delay_is_at_least_one_minute(attempt: int, chance: float) -> None:
    assert MINUTE <= backoff_delay(attempt, chance) <= SIX_HOURS * 1.15


@pytest.mark.parametrize(
    ("retry_after", "expected"),
    [
        ("120", timedelta(seconds=120)),
        (" 120 ", timedelta(seconds=120)),
        ("0", MINUTE),
        ("59", MINUTE),
        ("21600", SIX_HOURS),
        ("21601", SIX_HOURS),
        ("9" * 5000, SIX_HOURS),
        ("Sun, 01 Mar 2026 12:10:00 GMT", 10 * MINUTE),
        ("Sunday, 01-Mar-26 12:10:00 GMT", 10 * MINUTE),
        ("Sun Mar  1 12:10:00 2026", 10 * MINUTE),
        ("Sun, 01 Mar 2026 11:00:00 GMT", MINUTE),
        ("Sun, 01 Mar 2026 12:00:30 GMT", MINUTE),
        ("Mon, 02 Mar 2026 12:00:00 GMT", SIX_HOURS),
    ],
)
def test_retry_after_is_clamped_to_one_minute_and_six_hours(
    retry_after: str, expected: timedelta
) -> None:
    assert retry_delay(retry_after) == expected
    assert retry_delay(retry_after, attempt=6) == expected


@pytest.mark.parametrize(
    "retry_after", [None, "", "soon", "-5", "1.5", "1e3", "٣", "Sun, 99 Mar 2026 12:00:00 GMT"]
)
def test_invalid_retry_after_is_ignored(retry_after: str | None) -> None:
    assert retry_delay(retry_after, attempt=2) == backoff_delay(2, 0.0)


@given(st.datetimes(timezones=st.just(UTC)))
def test_retry_after_date_is_parsed_and_clamped(timestamp: datetime) -> None:
    delay = retry_after_delay(format_datetime(timestamp, usegmt=True), NOW)
    assert delay is not None
    assert MINUTE <= delay <= SIX_HOURS


@given(st.text())
def test_random_retry_after_text_is_ignored_or_clamped(text: str) -> None:
    delay = retry_after_delay(text, NOW)
    assert delay is None or MINUTE <= delay <= SIX_HOURS
