"""Test the precision of the current time."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain import clock


@pytest.mark.parametrize(("microsecond", "expected"), [(0, 0), (1_999, 1_000), (999_999, 999_000)])
def test_current_time_is_truncated_to_milliseconds(microsecond: int, expected: int) -> None:
    timestamp = datetime(2026, 11, 20, 10, tzinfo=UTC)
    with clock.fixed_at(timestamp.replace(microsecond=microsecond)):
        assert clock.now() == timestamp.replace(microsecond=expected)
