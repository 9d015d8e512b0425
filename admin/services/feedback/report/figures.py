"""Compute the figures of a report: numbers from the statistics, the rest from newest responses."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final

from admin.services.feedback.report.changes import Group, difference_test
from admin.services.forms.manage import AccountForm
from chalicelib.domain.feedback.daily import DailyGroup, Numbers
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.statistics import Interval
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.option_texts import named_options
from chalicelib.domain.forms.wording import FormWording, Question
from chalicelib.domain.language import Language

OptionNames = Mapping[FieldType, Mapping[str, str]]

BANDS: Final = {"low": range(7), "middle": range(7, 9), "high": range(9, 11)}
"""The bands of the Net Promoter Score: detractors, passives and promoters."""

_RISES: Final = 5
_MAX_CHANCE: Final = 0.1
"""The probability of a rise by chance, above which it is omitted."""


@dataclass(frozen=True)
class Period:
    """Whole days in the account's time zone. Both are included."""

    first: date
    last: date

    @property
    def previous(self) -> "Period":
        """The period of the same length before this one."""
        length = self.last - self.first + timedelta(days=1)
        return Period(self.first - length, self.first - timedelta(days=1))

    def weeks(self) -> Iterator[date]:
        """Yield the Monday of each week."""
        monday = Interval.WEEK.start(self.first)
        while monday <= self.last:
            yield monday
            monday += timedelta(days=7)


def store_of(group: DailyGroup) -> Group:
    """Return the brand and the store of a group."""
    return group.brand_id, group.store_id


def form_of(group: DailyGroup) -> Group:
    """Return the kind and the form of a group."""
    return group.kind, group.form_id


@dataclass
class Figures:
    """The numbers of a period: in total, by Monday of the week, by brand and store, and by form."""

    total: Numbers = field(default_factory=Numbers)
    weeks: dict[date, Numbers] = field(default_factory=lambda: defaultdict(Numbers))
    stores: dict[Group, Numbers] = field(default_factory=lambda: defaultdict(Numbers))
    forms: dict[Group, Numbers] = field(default_factory=lambda: defaultdict(Numbers))

    def add(self, group: DailyGroup, numbers: Numbers) -> None:
        """Add the numbers of a day's group."""
        for sums in (
            self.total,
            self.weeks[Interval.WEEK.start(date.fromisoformat(group.day))],
            self.stores[store_of(group)],
            self.forms[form_of(group)],
        ):
            sums.update(numbers)


@dataclass
class QuestionResult:
    """The answers to a question with options.

    Attributes:
        options: the names of the options by value.
        is_rating: whether the answers are the ratings of the responses.
        answers: the number of responses that answer the question.
        counts: the number of these responses by value.
    """

    form_name: str
    label: str
    options: dict[str, str]
    is_rating: bool = False
    answers: int = 0
    counts: Counter[str] = field(default_factory=Counter)


@dataclass
class Details:
    """The results of questions and the comments, from the newest responses of a group in a period.

    Attributes:
        group: the group; None for all responses.
        total: the number of responses in the statistics.
        at_most: the number of responses to read.
        questions: the questions with options, by form and field.
        comments: the comments with their records, newest first.
    """

    period: Period
    group: Group | None
    total: int
    at_most: int
    questions: dict[tuple[str, str], QuestionResult]
    read: int = 0
    comments: list[tuple[str, Feedback]] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether no more responses are needed."""
        return self.read >= min(self.total, self.at_most)

    def needs(self, group: DailyGroup) -> bool:
        """Return whether a response that is counted in this group belongs to the details."""
        return (
            not self.is_complete
            and self.period.first.isoformat() <= group.day <= self.period.last.isoformat()
            and self.group in (None, store_of(group), form_of(group))
        )

    def add(self, record: Feedback) -> None:
        """Add a response. Newer responses come first."""
        self.read += 1
        for answer in record.answers:
            if question := self.questions.get((record.form_id, answer.field_id)):
                question.answers += 1
                question.counts.update(set(answer.values))
            if answer.type is FieldType.LONG_TEXT:
                self.comments.append((answer.values[0], record))

    def rises(self, before: "Details") -> list[tuple[str, str, float, float]]:
        """Return the answers whose share has risen, the largest rises first.

        Each has its question and its shares, now and before. Rises that chance easily explains are
        omitted.
        """
        found = []
        for key, now in self.questions.items():
            then = before.questions[key]
            if now.is_rating or not now.answers or not then.answers:
                continue
            for value, count in now.counts.items():
                earlier = then.counts[value]
                shares = count / now.answers, earlier / then.answers
                other = now.answers - count, then.answers - earlier
                p = difference_test((other[0], count), (other[1], earlier))
                if shares[0] > shares[1] and p <= _MAX_CHANCE:
                    found.append((now.label, now.options.get(value, value), *shares))
        return sorted(found, key=lambda rise: rise[3] - rise[2])[:_RISES]


def questions_of(
    forms: Iterable[AccountForm], language: Language, names: OptionNames
) -> dict[tuple[str, str], QuestionResult]:
    """Return the questions with options, without answers.

    Args:
        language: the language of the questions, if the form has texts in it.
        names: the names of fixed options. Other options are their own names.
    """
    found = {}
    for form in forms:
        questions = FormWording.of(form.saved).questions
        rating = next((each.id for each in questions if each.type.rules.is_rating), None)
        for each in questions:
            if each.type.rules.options or each.type.rules.options_from_field:
                found[form.saved.id, each.id] = QuestionResult(
                    form.saved.name,
                    each.label_in(language) or each.key,
                    _options(each, language, names),
                    each.id == rating or each.type.rules.is_recommendation,
                )
    return found


def _options(question: Question, language: Language, names: OptionNames) -> dict[str, str]:
    if options := named_options(question.type, question.values):
        return {value: question.displayed(value, language) for value in options}
    return dict(names[question.type])
