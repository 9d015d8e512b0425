"""Test that the options of a period accept all times that their error message allows."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import typer

from admin.commands.feedback import parse_period
from admin.options import parse_time

ZONES = [ZoneInfo(name) for name in ("UTC", "Asia/Tokyo", "America/New_York")]
FIRST, LAST = "1900-01-01", "2999-12-31"


def period(since: str | None, until: str | None, zone: ZoneInfo) -> tuple[Any, Any]:
    """Parse both options and return the period that they describe."""
    start, end = (parse_time(text) if text else None for text in (since, until))
    return parse_period(start, end, zone)


@pytest.mark.parametrize("zone", ZONES, ids=str)
def test_first_and_last_day_of_allowed_years_are_accepted(zone: ZoneInfo) -> None:
    days = datetime(1900, 1, 1, tzinfo=zone), datetime(3000, 1, 1, tzinfo=zone)
    assert period(FIRST, LAST, zone) == days
    times = period(f"{FIRST}T00:00:00", f"{LAST}T23:59:59", zone)
    assert times == (days[0], datetime(2999, 12, 31, 23, 59, 59, tzinfo=zone))
    assert {time.tzinfo for time in times if time} == {UTC}


@pytest.mark.parametrize("text", ["1899-12-31", "1899-12-31T23:59:59", "1899-12-31T23:00:00-05:00"])
@pytest.mark.parametrize("zone", ZONES, ids=str)
def test_time_before_allowed_years_is_rejected(zone: ZoneInfo, text: str) -> None:
    with pytest.raises(typer.BadParameter, match="from 1900 to 2999"):
        period(text, None, zone)


@pytest.mark.parametrize(
    "text", ["3000-01-01", "3000-01-01T00:00:00", "3000-01-01T00:00:00+09:00", "9999-12-31"]
)
@pytest.mark.parametrize("zone", ZONES, ids=str)
def test_time_after_allowed_years_is_rejected(zone: ZoneInfo, text: str) -> None:
    with pytest.raises(typer.BadParameter, match="from 1900 to 2999"):
        period(None, text, zone)


@pytest.mark.parametrize("text", ["2026-11-20", "20261120", "2026-W47-5"])
def test_end_of_period_includes_date_in_every_notation(text: str) -> None:
    assert period(None, text, ZONES[0]) == (None, datetime(2026, 11, 21, tzinfo=UTC))
