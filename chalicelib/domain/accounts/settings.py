"""The settings of an account."""

from datetime import UTC, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Final, Self
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from chalicelib.domain.language import Language
from chalicelib.domain.schema import Choice, Input, must

MAX_RETENTION_DAYS: Final = 3_650
"""Maximum value of `AccountSettings.retention_days`: about ten years."""
MAX_SEGMENT_PRICE: Final = 1_000
"""Maximum value of `AccountSettings.sms_segment_price`."""
MAX_DAILY_TEXTS: Final = 1_000_000
"""Maximum value of `AccountSettings.sms_daily_limit`."""
_SEARCHED_DAYS: Final = 15
"""The days to search for sending hours, from today. Those after today contain each weekday twice.
"""


@cache
def time_zone_names() -> frozenset[str]:
    """Return the names of the IANA time zones, from the package tzdata.

    Operating systems have different time zones. The package has the same on every machine.
    """
    return frozenset((files("tzdata") / "zones").read_text(encoding="utf-8").split())


@cache
def country_codes() -> frozenset[str]:
    """Return the two-letter country codes of ISO 3166."""
    table = (files("tzdata") / "zoneinfo" / "iso3166.tab").read_text(encoding="utf-8")
    return frozenset(line[:2] for line in table.splitlines() if line and not line.startswith("#"))


TimeZoneName = Annotated[
    str,
    Field(max_length=64),
    must(
        lambda name: name in time_zone_names(),
        "invalid",
        "Must be an IANA time zone, such as Europe/Paris.",
    ),
]
"""The name of an IANA time zone, such as ``Europe/Paris``."""

CountryCode = Annotated[
    str,
    Field(max_length=2),
    must(
        lambda code: code in country_codes(),
        "invalid",
        "Must be a two-letter country code of ISO 3166, such as FR.",
    ),
]
"""A two-letter country code of ISO 3166 in upper case, such as ``FR``."""


class Weekday(Choice):
    """A day of the week, in the order of `datetime.weekday`."""

    MONDAY = "MONDAY"
    TUESDAY = "TUESDAY"
    WEDNESDAY = "WEDNESDAY"
    THURSDAY = "THURSDAY"
    FRIDAY = "FRIDAY"
    SATURDAY = "SATURDAY"
    SUNDAY = "SUNDAY"


def _local_time(value: Any) -> Any:
    if isinstance(value, time):
        return value
    try:
        return datetime.strptime(value, "%H:%M").time()  # noqa: DTZ007 - a time of any time zone
    except (TypeError, ValueError):
        raise PydanticCustomError(
            "invalid", "Must be a time of the form 09:00, from 00:00 to 23:59."
        ) from None


LocalTime = Annotated[
    time,
    BeforeValidator(_local_time),
    PlainSerializer(lambda value: value.strftime("%H:%M"), return_type=str),
    WithJsonSchema({"type": "string", "examples": ["09:00"]}),
]
"""A time of day without seconds."""


class SendingHours(Input):
    """The times of the week at which surveys are sent, in the time zone of the store.

    Attributes:
        start: the time of day from which surveys are sent.
        end: the time of day from which no more surveys are sent.
        weekdays: the days on which surveys are sent. By default, all days.
    """

    start: LocalTime
    end: LocalTime
    weekdays: list[Weekday] = Field(default_factory=lambda: list(Weekday), min_length=1)

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if self.start >= self.end:
            raise PydanticCustomError("invalid", "The start must be before the end.")
        if len(set(self.weekdays)) < len(self.weekdays):
            raise PydanticCustomError("duplicate", "The weekdays must be unique.")
        return self

    def hold_until(self, time_zone: str, now: datetime) -> datetime | None:
        """Return the time at which the sending hours start next, or None if they include ``now``.

        Args:
            time_zone: the IANA name of the store's time zone.
        """
        zone = ZoneInfo(time_zone)
        local = now.astimezone(zone)
        weekdays = list(Weekday)
        if weekdays[local.weekday()] in self.weekdays and self.start <= local.time() < self.end:
            return None
        days = (local.date() + timedelta(days=number) for number in range(_SEARCHED_DAYS))
        starts = (
            datetime.combine(day, self.start.replace(fold=fold), zone).astimezone(UTC)
            for day in days
            if weekdays[day.weekday()] in self.weekdays
            for fold in (0, 1)  # The start occurs twice if the clocks go back.
        )
        return next(start for start in starts if start > now)


class AccountSettings(Input):
    """The settings of an account.

    Attributes:
        identify_respondents: whether e-mail addresses and phone numbers in answers link feedback to
            customers. If False, only trackers link feedback to customers.
        default_region: the country of phone numbers without a country code.
        time_zone: the time zone of reports and of stores without a time zone.
        language: the language of reports.
        sending_hours: the times at which surveys are sent. None means at any time.
        retention_days: the number of days after which the answers of feedback are anonymized. None
            means never.
        sms_segment_price: the price of a segment of a text message, in the currency of the
            operator. None if it is unknown. Only ``solicitation explain`` uses it.
        sms_countries: the countries whose phone numbers receive text messages. None means only the
            default region. See `text_countries`.
        sms_daily_limit: the maximum number of text messages of a day (UTC). None means no limit.
    """

    name: str = Field(min_length=1, max_length=255)
    identify_respondents: bool = True
    default_region: CountryCode | None = None
    time_zone: TimeZoneName = "UTC"
    language: Annotated[Language, Field(strict=False)] = Language("en")
    sending_hours: SendingHours | None = None
    retention_days: int | None = Field(default=None, ge=1, le=MAX_RETENTION_DAYS)
    sms_segment_price: float | None = Field(default=None, ge=0, le=MAX_SEGMENT_PRICE)
    sms_countries: list[CountryCode] | None = None
    sms_daily_limit: int | None = Field(default=None, ge=1, le=MAX_DAILY_TEXTS)

    @property
    def text_countries(self) -> frozenset[str]:
        """The countries whose phone numbers receive text messages."""
        if self.sms_countries is not None:
            return frozenset(self.sms_countries)
        return frozenset({self.default_region} if self.default_region else ())
