"""Compute when the next sending hours of an account start."""

from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from chalicelib.domain.accounts.settings import SendingHours, Weekday

_DAYS: Final = 15
"""The number of days to search, from today. The days after today contain each weekday twice."""


def hold_until(hours: SendingHours, time_zone: str, now: datetime) -> datetime | None:
    """Return the time at which the sending hours start next, or None if they include ``now``.

    Args:
        time_zone: the IANA name of the store's time zone.
    """
    zone = ZoneInfo(time_zone)
    local = now.astimezone(zone)
    weekdays = list(Weekday)
    if weekdays[local.weekday()] in hours.weekdays and hours.start <= local.time() < hours.end:
        return None
    days = (local.date() + timedelta(days=number) for number in range(_DAYS))
    starts = (
        datetime.combine(day, hours.start.replace(fold=fold), zone).astimezone(UTC)
        for day in days
        if weekdays[day.weekday()] in hours.weekdays
        for fold in (0, 1)  # The start occurs twice if the clocks go back.
    )
    return next(start for start in starts if start > now)
