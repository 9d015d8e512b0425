"""Test the precision of the current time."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain import clock


@pytest.mark.parametrize(("microsecond", "expected"), [(0, 0), (1_999, 1_000), (999_999, 999_000)])
def test_current_time_is_truncated_to_milliseconds(microsecond: int, expected: int) -> None:
    timestamp = datetime(2026, 11, 20, 10, tzinfo=UTC)
    with clock.fixed_at(timestamp.replace(microsecond=microsecond)):
        assert clock.now() == timestamp.replace(microsecond=expected)


@pytest.mark.parametrize(
    ("now_s", "expected_s"), [(-300, 10), (9.9, 10), (10.5, 10.5), (11, 10.999), (300, 10.999)]
)
def test_time_is_within_second_that_aws_states(
    monkeypatch: pytest.MonkeyPatch, now_s: float, expected_s: float
) -> None:
    start = datetime(2026, 11, 20, 10, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(seconds=now_s))
    assert clock.within(start + timedelta(seconds=10)) == start + timedelta(seconds=expected_s)


def test_fixed_time_stays() -> None:
    earlier = datetime(2020, 1, 1, tzinfo=UTC)
    with clock.fixed_at(earlier):
        assert clock.within(datetime(2026, 11, 20, tzinfo=UTC)) == earlier
