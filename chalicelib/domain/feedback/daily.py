"""The numbers of the statistics: what is counted, and in which group."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from chalicelib.domain.feedback.feedback import Feedback, FormKind

RATINGS: Final = range(11)
FEEDBACK: Final = "feedback"
SENT: Final = "sent"
ANSWERED: Final = "answered"

Numbers = Counter[str]
"""Numbers by name, see `NAMES`."""


def rating(value: int) -> str:
    """Return the name of the number that counts feedback records with this rating."""
    return f"r{value}"


def nps(value: int) -> str:
    """Return the name of the number that counts feedback records by their first NPS answer."""
    return f"n{value}"


NAMES: Final = (FEEDBACK, *map(rating, RATINGS), *map(nps, RATINGS), SENT, ANSWERED)


@dataclass(frozen=True)
class DailyGroup:
    """The feedback and the surveys that are counted together.

    Attributes:
        day: the day in ISO 8601, in the account's time zone at the time of counting.
    """

    day: str
    kind: FormKind
    form_id: str
    brand_id: str | None
    store_id: str | None

    @property
    def key(self) -> str:
        """The group as text, which sorts by day."""
        places = self.brand_id or "", self.store_id or ""
        return "#".join((self.day, self.kind.value, self.form_id, *places))

    @classmethod
    def parse(cls, key: str) -> "DailyGroup":
        """Return the group of a key. Further parts of the key are ignored."""
        day, kind, form_id, brand_id, store_id, *_ = key.split("#")
        return cls(day, FormKind(kind), form_id, brand_id or None, store_id or None)


def group_of(feedback: Feedback, time_zone: str) -> DailyGroup:
    """Return the group of a feedback record: by its creation time, form and place."""
    day = day_of(feedback.created_at, time_zone)
    return DailyGroup(day, feedback.kind, feedback.form_id, feedback.brand_id, feedback.store_id)


def day_of(at: datetime, time_zone: str) -> str:
    """Return the day of a time in a time zone, in ISO 8601."""
    return at.astimezone(ZoneInfo(time_zone)).date().isoformat()


def numbers_of(feedback: Feedback) -> Numbers:
    """Return the numbers of one feedback record. Anonymizing it does not change them."""
    numbers = Numbers({FEEDBACK: 1})
    if feedback.rating is not None:
        numbers[rating(feedback.rating)] = 1
    for answer in feedback.answers:
        if answer.type.rules.is_recommendation:
            numbers[nps(int(answer.values[0]))] = 1
            break
    return numbers


def numbers_by_group(
    feedback: Feedback, counted_as: str | None, answered_as: str | None
) -> dict[str, Numbers]:
    """Return the numbers of one feedback record by key of the group.

    Args:
        counted_as: the key of the group in which the feedback is counted; None if it is not.
        answered_as: the key of the group in which the survey that it answers is counted.
    """
    numbers = {counted_as: numbers_of(feedback)} if counted_as else {}
    if answered_as:
        numbers.setdefault(answered_as, Numbers())[ANSWERED] += 1
    return numbers
