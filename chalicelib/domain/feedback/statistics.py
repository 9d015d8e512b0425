"""Statistics about feedback and surveys: requests, and numbers by period and group."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from math import sqrt
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from chalicelib.domain.errors import TooMuch
from chalicelib.domain.feedback.daily import (
    ANSWERED,
    FEEDBACK,
    RATINGS,
    SENT,
    DailyGroup,
    Numbers,
    nps,
    rating,
)
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.input_errors import (
    InputError,
    duplicate,
    duplicate_positions,
    out_of_range,
)
from chalicelib.domain.schema import Choice, Identifier, Input, Resource, UuidText

MAX_DAYS: Final = 400
MAX_GROUPS: Final = 10_000
MIN_ANSWERS: Final = 10
"""The number of answers from which there is a Net Promoter Score."""

_MAX_IDS: Final = 100
_Z: Final = 1.96
"""The quantile of the standard normal distribution for a 95% confidence interval."""


def _date(value: Any) -> Any:
    try:
        # ISO 8601 has other formats too, such as 2026-W47-5.
        if isinstance(value, str) and (day := date.fromisoformat(value)).isoformat() == value:
            return day
    except ValueError:
        pass
    raise PydanticCustomError("invalid_date", "Must be a date, such as 2026-11-20.")


_Date = Annotated[
    date,
    BeforeValidator(_date),
    WithJsonSchema({"type": "string", "format": "date", "examples": ["2026-11-20"]}),
]
_Ids = Annotated[list[Identifier], Field(min_length=1, max_length=_MAX_IDS)]


class Interval(Choice):
    """The periods into which statistics are divided."""

    NONE = "NONE"
    DAY = "DAY"
    WEEK = "WEEK"
    MONTH = "MONTH"

    def start(self, day: date) -> date:
        """Return the first day of the period that contains a day."""
        match self:
            case Interval.WEEK:
                return day - timedelta(days=day.weekday())
            case Interval.MONTH:
                return day.replace(day=1)
            case _:
                return day


class GroupBy(Choice):
    """A property by which statistics are grouped."""

    FORM = "FORM"
    BRAND = "BRAND"
    STORE = "STORE"
    KIND = "KIND"


_Bucket = tuple[date, str | None, str | None, str | None, FormKind | None]


class StatisticsRequest(Input):
    """The requested statistics."""

    since: _Date = Field(description="First day, in the account's time zone.")
    until: _Date = Field(
        description=f"Last day (included). The period has at most {MAX_DAYS} days."
    )
    interval: Interval | None = Field(
        default=None,
        description="Length of the periods, each with its own numbers. Without it, all days are one"
        " period. Weeks start on Monday.",
    )
    group_by: Annotated[list[GroupBy], Field(max_length=2)] | None = Field(
        default=None,
        description="Up to two properties to group by.",
        json_schema_extra={"uniqueItems": True},
    )
    form_ids: _Ids | None = Field(default=None, description="Only these forms.")
    brand_ids: _Ids | None = Field(default=None, description="Only these brands.")
    store_ids: _Ids | None = Field(default=None, description="Only these stores.")
    kind: FormKind | None = Field(default=None, description="Only this kind of form.")

    def rule_errors(self) -> Iterator[InputError]:
        """Yield the errors of fields that contradict each other."""
        if self.until < self.since:
            yield out_of_range("Must not be before since.", "until")
        elif self.until - self.since >= timedelta(days=MAX_DAYS):
            yield out_of_range(f"The period must have at most {MAX_DAYS} days.", "until")
        for position in duplicate_positions(self.group_by or ()):
            yield duplicate("groupBy", position)

    def matches(self, group: DailyGroup) -> bool:
        """Return whether the filters select a group."""
        return (
            (self.form_ids is None or group.form_id in self.form_ids)
            and (self.brand_ids is None or group.brand_id in self.brand_ids)
            and (self.store_ids is None or group.store_id in self.store_ids)
            and self.kind in (None, group.kind)
        )

    def bucket_of(self, group: DailyGroup) -> _Bucket:
        """Return the bucket to which a group belongs."""
        by = self.group_by or ()
        return (
            self._start(date.fromisoformat(group.day)),
            group.form_id if GroupBy.FORM in by else None,
            group.brand_id if GroupBy.BRAND in by else None,
            group.store_id if GroupBy.STORE in by else None,
            group.kind if GroupBy.KIND in by else None,
        )

    def buckets(self) -> Iterator[_Bucket]:
        """Yield the buckets that the response always contains: all periods, or none with groups."""
        days = range((self.until - self.since).days + 1) if not self.group_by else ()
        for start in dict.fromkeys(self._start(self.since + timedelta(n)) for n in days):
            yield start, None, None, None, None

    def _start(self, day: date) -> date:
        if self.interval is None or self.interval is Interval.NONE:
            return self.since
        return max(self.interval.start(day), self.since)


class Nps(Resource):
    """The Net Promoter Score, by the first answer of type `NPS` of each feedback."""

    promoters: int = Field(description="Number of answers 9 and 10.", examples=[13])
    passives: int = Field(description="Number of answers 7 and 8.", examples=[11])
    detractors: int = Field(description="Number of answers 0 to 6.", examples=[7])
    score: float | None = Field(
        description=f"The score, from -100 to 100. `score`, `low` and `high` are null if there are"
        f" fewer than {MIN_ANSWERS} answers.",
        examples=[19.4],
    )
    low: float | None = Field(
        description="Lower limit of the 95% confidence interval.", examples=[-7.6]
    )
    high: float | None = Field(
        description="Upper limit of the 95% confidence interval.", examples=[43.8]
    )

    @property
    def answers(self) -> int:
        """The number of answers."""
        return self.promoters + self.passives + self.detractors


class StatisticsItem(Resource):
    """The numbers of a period and a group."""

    first_day: date = Field(
        alias="from", description="First day of the period.", examples=["2026-10-01"]
    )
    form_id: UuidText | None = Field(
        description="Form; null unless grouped by `FORM`.", examples=[None]
    )
    brand_id: UuidText | None = Field(
        description="Brand; null unless grouped by `BRAND`, and without a brand.", examples=[None]
    )
    store_id: UuidText | None = Field(
        description="Store; null unless grouped by `STORE`, and without a store."
    )
    kind: FormKind | None = Field(
        description="Kind of form; null unless grouped by `KIND`.", examples=[None]
    )
    feedback_count: int = Field(description="Number of feedback, without tests.", examples=[31])
    rating_counts: list[int] = Field(
        description="Number of feedback with each rating from 0 to 10.",
        min_length=len(RATINGS),
        max_length=len(RATINGS),
        examples=[[0, 1, 0, 1, 2, 1, 2, 4, 7, 8, 5]],
    )
    average_rating: float | None = Field(
        description="Mean rating with two decimals; null without ratings.", examples=[7.58]
    )
    nps: Nps
    surveys_sent: int = Field(
        description="Number of surveys sent in the period, including those that may not have"
        " arrived.",
        examples=[40],
    )
    surveys_answered: int = Field(
        description="Number of these surveys that were answered, also after the period.",
        examples=[26],
    )
    response_rate: float | None = Field(
        description="`surveysAnswered` divided by `surveysSent`; null if no survey was sent.",
        examples=[0.65],
    )


class Statistics(Resource):
    """Statistics by period and group, in this order."""

    items: tuple[StatisticsItem, ...] = Field(
        description="Without `groupBy`, all periods; with it, only groups with numbers."
    )


def build_statistics(
    request: StatisticsRequest, counted: Iterable[tuple[DailyGroup, Numbers]]
) -> Statistics:
    """Add up the numbers of the groups that the request selects.

    Raises:
        TooMuch: there are too many groups.
    """
    buckets = {bucket: Numbers() for bucket in request.buckets()}
    for group, numbers in counted:
        if request.matches(group):
            buckets.setdefault(request.bucket_of(group), Numbers()).update(numbers)
            if len(buckets) > MAX_GROUPS:
                raise TooMuch(f"The statistics have more than {MAX_GROUPS:,} groups.")
    in_order = sorted(buckets, key=lambda bucket: tuple(str(part or "") for part in bucket))
    return Statistics(items=tuple(_item(bucket, buckets[bucket]) for bucket in in_order))


def nps_of(numbers: Mapping[str, int]) -> Nps:
    """Return the Net Promoter Score.

    The confidence interval is the adjusted Wald interval, which is also accurate for few answers:
    the formula adds 0.75 promoters, 0.75 detractors and 1.5 passives. Because the added answers can
    exclude the score of a few equal answers, the interval is extended to it.
    """
    detractors, passives, promoters = (
        sum(numbers[nps(value)] for value in band)
        for band in (RATINGS[:7], RATINGS[7:9], RATINGS[9:])
    )
    answers = detractors + passives + promoters
    score = low = high = None
    if answers >= MIN_ANSWERS:
        adjusted = answers + 3
        p, d = (promoters + 0.75) / adjusted, (detractors + 0.75) / adjusted
        margin = _Z * sqrt((p + d - (p - d) ** 2) / adjusted)
        score = round(100 * (promoters - detractors) / answers, 1)
        low = max(-100.0, min(round(100 * (p - d - margin), 1), score))
        high = min(100.0, max(round(100 * (p - d + margin), 1), score))
    return Nps(
        promoters=promoters,
        passives=passives,
        detractors=detractors,
        score=score,
        low=low,
        high=high,
    )


def average_rating(numbers: Mapping[str, int]) -> float | None:
    """Return the mean rating with two decimals, or None without ratings."""
    rated = sum(numbers[rating(value)] for value in RATINGS)
    total = sum(value * numbers[rating(value)] for value in RATINGS)
    return round(total / rated, 2) if rated else None


def response_rate(numbers: Mapping[str, int]) -> float | None:
    """Return the share of the sent surveys that are answered, or None if none was sent."""
    return round(numbers[ANSWERED] / numbers[SENT], 4) if numbers[SENT] else None


def _item(bucket: _Bucket, numbers: Numbers) -> StatisticsItem:
    first_day, form_id, brand_id, store_id, kind = bucket
    return StatisticsItem(
        first_day=first_day,
        form_id=form_id,
        brand_id=brand_id,
        store_id=store_id,
        kind=kind,
        feedback_count=numbers[FEEDBACK],
        rating_counts=[numbers[rating(value)] for value in RATINGS],
        average_rating=average_rating(numbers),
        nps=nps_of(numbers),
        surveys_sent=numbers[SENT],
        surveys_answered=numbers[ANSWERED],
        response_rate=response_rate(numbers),
    )
