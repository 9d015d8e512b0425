"""The options that select feedback, and their conversion to a filter."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

import typer

from admin.options import id_of, id_option, parse_time
from chalicelib.domain.feedback.filter import FeedbackFilter
from chalicelib.domain.language import Language
from chalicelib.services.accounts.settings import current_settings

_RANGE: Final = re.compile(r"(\d{1,2})(?:\.\.(\d{1,2}))?")
_HIGHEST: Final = 10


def parse_rating(text: str) -> tuple[int, int]:
    """Parse a rating or a range of ratings: ``7`` or ``0..6``.

    Raises:
        BadParameter: the text is neither, or the range is empty.
    """
    match = _RANGE.fullmatch(text.strip())
    if match:
        lowest = int(match[1])
        highest = int(match[2]) if match[2] else lowest
        if lowest <= highest <= _HIGHEST:
            return lowest, highest
    raise typer.BadParameter("Must be a number from 0 to 10, or a range such as 0..6.")


def parse_zone(name: str) -> ZoneInfo:
    """Parse the name of a time zone.

    Raises:
        BadParameter: there is no time zone with this name.
    """
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise typer.BadParameter("Must be a time zone, such as Europe/Paris.") from None


def zone_of(account_id: str, chosen: ZoneInfo | None) -> ZoneInfo:
    """Return the chosen time zone, by default the account's. One AWS request.

    Raises:
        NotFound: the account does not exist.
    """
    settings = current_settings(account_id)
    return chosen or ZoneInfo(settings.time_zone)


def _language(text: str) -> str:
    if text not in list(Language):
        raise typer.BadParameter("Must be a language code, such as fr.")
    return text


FeedbackArgument = Annotated[str, id_of("The feedback's id.")]
FormOption = Annotated[str | None, id_option("Only feedback of this contact form.")]
SurveyOption = Annotated[str | None, id_option("Only feedback of this survey.")]
StoreOption = Annotated[str | None, id_option("Only feedback on this store.")]
BrandOption = Annotated[str | None, id_option("Only feedback on this brand.")]
RatingOption = Annotated[
    Any,
    typer.Option(
        help="Only feedback with this rating, or with a rating in a range such as 0..6.",
        parser=parse_rating,
        metavar="RATING",
    ),
]
SinceOption = Annotated[
    str | None,
    typer.Option(help="The start of the period: a date or a date-time.", metavar="TIME"),
]
UntilOption = Annotated[
    str | None,
    typer.Option(
        help="The end of the period: a date (included) or a date-time (excluded).",
        metavar="TIME",
    ),
]
LanguageOption = Annotated[
    str | None,
    typer.Option(help="Only feedback in this language.", parser=_language, metavar="CODE"),
]
ContainsOption = Annotated[
    str | None,
    typer.Option(
        help="Only feedback with an answer that contains this text. Case is ignored.",
        metavar="TEXT",
    ),
]
ZoneOption = Annotated[
    Any,
    typer.Option(
        help="The time zone of dates and times.  [default: the account's]",
        parser=parse_zone,
        metavar="ZONE",
    ),
]


def parse_period(
    since: str | None, until: str | None, zone: ZoneInfo
) -> tuple[datetime | None, datetime | None]:
    """Return the start and the end of the period that the options describe.

    Raises:
        BadParameter: an option is not a date or a date-time, or the period is empty.
    """
    start = _parse_time(since, zone, "--since")
    end = _parse_time(until, zone, "--until", days_after_date=1)
    if start and end and start >= end:
        raise typer.BadParameter("Must be after --since.", param_hint="--until")
    return start, end


def _parse_time(
    text: str | None, zone: ZoneInfo, option: str, days_after_date: int = 0
) -> datetime | None:
    if text is None:
        return None
    entered, is_date = parse_time(text, zone, option)
    if is_date:
        entered += timedelta(days=days_after_date)
    return entered.astimezone(UTC)


def build_filter(
    since: str | None, until: str | None, zone: ZoneInfo, **properties: Any
) -> FeedbackFilter:
    """Return the filter that the options describe.

    Args:
        properties: the properties of `FeedbackFilter` without the period.

    Raises:
        BadParameter: the period is invalid, or both a form and a survey are selected.
    """
    if properties.get("form_id") and properties.get("survey_id"):
        raise typer.BadParameter("Use either --form or --survey.", param_hint="--survey")
    start, end = parse_period(since, until, zone)
    return FeedbackFilter(since=start, until=end, **properties)
