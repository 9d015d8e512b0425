"""Compute the figures of a report from a stream of feedback, in constant memory."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from math import sqrt
from typing import Final
from zoneinfo import ZoneInfo

from admin.services.solicitation.sent_surveys import SentSurvey
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.forms.field_types import FieldType

RATINGS: Final = range(11)
_COMMENTS: Final = 4
_MIN_COMMENT: Final = 15
_Z: Final = 1.96
"""The quantile of the standard normal distribution for a 95% confidence interval."""

BANDS: Final = {
    "Low ratings (0 to 6)": range(7),
    "Middle ratings (7 and 8)": range(7, 9),
    "High ratings (9 and 10)": range(9, 11),
}
"""The bands of the Net Promoter Score: detractors, passives and promoters."""


class Breakdown(StrEnum):
    """The property by which a section of the report groups feedback."""

    WEEK = "week"
    MONTH = "month"
    STORE = "store"
    SURVEY = "survey"
    LANGUAGE = "language"


@dataclass(frozen=True)
class Nps:
    """A Net Promoter Score, from -100 to 100, with its 95% confidence interval."""

    score: float
    low: float
    high: float
    answers: int


@dataclass
class Group:
    """The numbers of a group of responses.

    Attributes:
        ratings: the number of responses by rating.
        recommendations: the number of responses by answer to the first NPS field.
        sent: the number of surveys that were sent.
        answered: the number of these surveys that were answered, at any time until now.
    """

    responses: int = 0
    ratings: Counter[int] = field(default_factory=Counter)
    recommendations: Counter[int] = field(default_factory=Counter)
    sent: int = 0
    answered: int = 0

    def add(self, record: Feedback) -> None:
        """Add a response."""
        self.responses += 1
        if record.rating is not None:
            self.ratings[record.rating] += 1
        recommendation = _recommendation(record)
        if recommendation is not None:
            self.recommendations[recommendation] += 1

    @property
    def mean(self) -> float | None:
        """The mean rating from 0 to 10, or None without ratings."""
        rated = self.ratings.total()
        return (
            sum(rating * count for rating, count in self.ratings.items()) / rated if rated else None
        )

    @property
    def response_rate(self) -> float | None:
        """The share of the sent surveys that were answered; None if no survey was sent."""
        return self.answered / self.sent if self.sent else None

    @property
    def nps(self) -> Nps | None:
        """The Net Promoter Score, or None if no NPS field is answered.

        The confidence interval is the adjusted Wald interval, which is also accurate for few
        answers: the formula adds 0.75 promoters, 0.75 detractors and 1.5 passives. Because the
        added answers can exclude the score of a few equal answers, the interval is extended to it.
        """
        answers = self.recommendations.total()
        if not answers:
            return None
        promoters = self.recommendations[9] + self.recommendations[10]
        detractors = sum(self.recommendations[rating] for rating in range(7))
        adjusted = answers + 3
        p, d = (promoters + 0.75) / adjusted, (detractors + 0.75) / adjusted
        margin = _Z * sqrt((p + d - (p - d) ** 2) / adjusted)
        score = 100 * (promoters - detractors) / answers
        low, high = 100 * (p - d - margin), 100 * (p - d + margin)
        return Nps(score, max(-100.0, min(low, score)), min(100.0, max(high, score)), answers)


@dataclass(frozen=True)
class Comment:
    """A verbatim comment of a respondent."""

    text: str
    rating: int | None
    created_at: datetime
    store_id: str | None


@dataclass
class Figures:
    """The figures of one period.

    Attributes:
        tests: the number of test responses, which no other figure includes.
        groups: the groups of each breakdown by key. The key of a week or month is its first day in
            ISO 8601; the key of a store is its id, or ``""`` for responses without a store; the key
            of a survey is its id, or ``""`` for responses to contact forms.
        comments: the newest comments of each band.
    """

    zone: ZoneInfo
    breakdowns: Iterable[Breakdown]
    total: Group = field(default_factory=Group)
    tests: int = 0
    groups: dict[Breakdown, defaultdict[str, Group]] = field(default_factory=dict)
    comments: dict[str, deque[Comment]] = field(default_factory=dict)

    def add(self, stored: StoredFeedback) -> None:
        """Add a response to the figures."""
        if stored.is_test:
            self.tests += 1
            return
        record = stored.feedback
        self.total.add(record)
        for breakdown in self.breakdowns:
            self._group(breakdown, _KEYS[breakdown](record, self.zone)).add(record)
        for band, ratings in BANDS.items():
            comments = list(_comments(record)) if record.rating in ratings else []
            if comments:
                self.comments.setdefault(band, deque(maxlen=_COMMENTS)).extend(comments)

    def add_sent(self, survey: SentSurvey) -> None:
        """Add a survey that was sent to the figures."""
        keys = SENT_KEYS.keys() & set(self.breakdowns)
        groups = [self._group(breakdown, SENT_KEYS[breakdown](survey)) for breakdown in keys]
        for group in (self.total, *groups):
            group.sent += 1
            group.answered += survey.is_answered

    def _group(self, breakdown: Breakdown, key: str) -> Group:
        return self.groups.setdefault(breakdown, defaultdict(Group))[key]

    def groups_by(self, breakdown: Breakdown) -> Mapping[str, Group]:
        """Return the groups of a breakdown by key. Empty if nothing was sent or received."""
        return self.groups.get(breakdown) or {}


def previous_start(since: datetime, until: datetime, zone: ZoneInfo) -> datetime:
    """Return the start of the previous period of the same length on the clock of the time zone.

    If the clock changes in one of the periods, the week before a week still starts at midnight.
    """
    start, end = (time.astimezone(zone).replace(tzinfo=None) for time in (since, until))
    previous = (start - (end - start)).replace(tzinfo=zone).astimezone(UTC)
    # A period of minutes during a change of the clock has no usable length on the clock.
    return previous if previous < since else since - (until - since)


def periods(breakdown: Breakdown, since: date, until: date) -> Iterator[str]:
    """Yield the first day of each week or month of a period.

    Args:
        until: the last day of the period.
    """
    day = _first_day(breakdown, since)
    while day <= until:
        yield day.isoformat()
        day = _first_day(breakdown, day + timedelta(days=7 if breakdown is Breakdown.WEEK else 31))


def _first_day(breakdown: Breakdown, day: date) -> date:
    if breakdown is Breakdown.WEEK:
        return day - timedelta(days=day.weekday())
    return day.replace(day=1)


def _period_key(breakdown: Breakdown) -> Callable[[Feedback, ZoneInfo], str]:
    return lambda record, zone: _first_day(
        breakdown, record.created_at.astimezone(zone).date()
    ).isoformat()


_KEYS: Final[Mapping[Breakdown, Callable[[Feedback, ZoneInfo], str]]] = {
    Breakdown.WEEK: _period_key(Breakdown.WEEK),
    Breakdown.MONTH: _period_key(Breakdown.MONTH),
    Breakdown.STORE: lambda record, _zone: record.store_id or "",
    Breakdown.SURVEY: lambda record, _zone: (
        record.form_id if record.kind is FormKind.SURVEY else ""
    ),
    Breakdown.LANGUAGE: lambda record, _zone: record.language.value,
}

SENT_KEYS: Final[Mapping[Breakdown, Callable[[SentSurvey], str]]] = {
    Breakdown.STORE: lambda survey: survey.store_id or "",
    Breakdown.SURVEY: lambda survey: survey.survey_id,
}
"""The breakdowns with a response rate.

Weeks and months have no rate, because many respondents answer in a later week than they received
the survey.
"""


def _recommendation(record: Feedback) -> int | None:
    return next(
        (int(answer.values[0]) for answer in record.answers if answer.type is FieldType.NPS), None
    )


def _comments(record: Feedback) -> Iterator[Comment]:
    for answer in record.answers:
        if answer.type is FieldType.LONG_TEXT and len(answer.values[0]) >= _MIN_COMMENT:
            yield Comment(answer.values[0], record.rating, record.created_at, record.store_id)
