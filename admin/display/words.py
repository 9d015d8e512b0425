"""Describe durations, conditions and the rules for sending a survey in words."""

from collections.abc import Iterator
from typing import Final

from chalicelib.domain.comparison import Combination
from chalicelib.domain.forms.survey import SavedSurvey

_UNITS: Final = {"day": 86_400, "hour": 3600, "minute": 60, "second": 1}
_COMPARISONS: Final = {
    "$eq": "is",
    "$ne": "is not",
    "$in": "is one of",
    "$nin": "is none of",
    "$gt": "is more than",
    "$gte": "is at least",
    "$lt": "is less than",
    "$lte": "is at most",
    "$contains": "contains",
}


def duration_in_words(seconds: int) -> str:
    """Return the exact duration: ``1 day 12 hours``."""
    parts = []
    for unit, length in _UNITS.items():
        number, seconds = divmod(seconds, length)
        if number:
            parts.append(f"{number} {unit}{'' if number == 1 else 's'}")
    return " ".join(parts) or "no time"


def comparison_in_words(operator: str, value: str) -> str:
    """Describe a comparison with a value: ``is at least 9``."""
    if operator == "$exists":
        return "is missing" if value == "false" else "is given"
    return f"{_COMPARISONS[operator]} {value}"


def joined(parts: list[str], operator: Combination) -> str:
    """Join the descriptions of conditions with the word for their operator."""
    return (" and " if operator is Combination.AND else " or ").join(parts)


def sending_rules(survey: SavedSurvey) -> Iterator[str]:
    """Describe through which channels and when a survey is sent, one rule at a time."""
    channels = [channel.value for channel in survey.sending_channels]
    yield f"sent by {', '.join(channels)}" if channels else "sent by no channel"
    if survey.solicitation_delay:
        start = _lower(survey.solicitation_delay_from)
        yield f"{duration_in_words(survey.solicitation_delay)} after the {start} of the purchase"
    if survey.solicitation_threshold:
        yield f"for purchases up to {duration_in_words(survey.solicitation_threshold)} old"
    if survey.resolicitation_delay:
        scope = _lower(survey.resolicitation_mode)
        yield f"{duration_in_words(survey.resolicitation_delay)} after another one of this {scope}"
    if survey.reminder_delay:
        yield f"reminder after {duration_in_words(survey.reminder_delay)}"


def _lower(name: str) -> str:
    return name.lower().replace("_", " ")
