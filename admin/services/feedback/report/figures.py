"""Compute the figures of a report: numbers from the statistics, the rest from newest responses."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final

from admin.domain.feedback_filter import FeedbackFilter
from admin.services.forms.manage import AccountForm
from chalicelib.domain.feedback.daily import DailyGroup, Numbers
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.feedback.statistics import Interval
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.option_texts import named_options
from chalicelib.domain.forms.wording import FormWording, Question
from chalicelib.domain.language import Language

MAX_READ: Final = 10_000
"""The number of responses from which questions and comments are shown: the newest ones."""

OptionNames = Mapping[FieldType, Mapping[str, str]]
_COMMENTS: Final = 4

BANDS: Final = {"low": range(7), "middle": range(7, 9), "high": range(9, 11)}
"""The bands of the Net Promoter Score: detractors, passives and promoters."""


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


@dataclass
class Figures:
    """The numbers of a period: in total, by Monday of the week, by brand and store, and by form."""

    total: Numbers = field(default_factory=Numbers)
    weeks: dict[date, Numbers] = field(default_factory=lambda: defaultdict(Numbers))
    stores: dict[tuple[str | None, str | None], Numbers] = field(
        default_factory=lambda: defaultdict(Numbers)
    )
    forms: dict[tuple[FormKind, str], Numbers] = field(default_factory=lambda: defaultdict(Numbers))

    def add(self, group: DailyGroup, numbers: Numbers) -> None:
        """Add the numbers of a day's group."""
        for sums in (
            self.total,
            self.weeks[Interval.WEEK.start(date.fromisoformat(group.day))],
            self.stores[group.brand_id, group.store_id],
            self.forms[group.kind, group.form_id],
        ):
            sums.update(numbers)


@dataclass
class QuestionResult:
    """The answers to a question with options.

    Attributes:
        options: the names of the options by value.
        answers: the number of responses that answer the question.
        counts: the number of these responses by value.
    """

    form_name: str
    label: str
    options: dict[str, str]
    answers: int = 0
    counts: Counter[str] = field(default_factory=Counter)


@dataclass
class Details:
    """The results of questions and the newest comments, from the newest responses of a period.

    Attributes:
        read: the number of responses that were read. If it is `MAX_READ`, older ones were not read.
        questions: the questions with options, by form and field.
        comments: the newest comments with their records, by band.
    """

    questions: dict[tuple[str, str], QuestionResult]
    read: int = 0
    comments: dict[str, list[tuple[str, Feedback]]] = field(default_factory=dict)

    @classmethod
    def of(cls, forms: Iterable[AccountForm], language: Language, names: OptionNames) -> "Details":
        """Return details without responses, with the questions of these forms.

        Args:
            language: the language of the questions, if the form has texts in it.
            names: the names of fixed options. Other options are their own names.
        """
        return cls(
            {
                (form.saved.id, each.id): QuestionResult(
                    form.saved.name,
                    each.label_in(language) or each.key,
                    _options(each, language, names),
                )
                for form in forms
                for each in FormWording.of(form.saved).questions
                if each.type.rules.options or each.type.rules.options_from_field
            }
        )

    def add(self, stored: StoredFeedback, wanted: FeedbackFilter) -> None:
        """Add a response if the filter selects it and it counts. Newer responses come first."""
        self.read += 1
        record = stored.feedback
        if not stored.is_counted or not wanted.matches(record):
            return
        for answer in record.answers:
            question = self.questions.get((record.form_id, answer.field_id))
            if question:
                question.answers += 1
                question.counts.update(set(answer.values))
        for band, ratings in BANDS.items():
            if record.rating in ratings:
                comments = self.comments.setdefault(band, [])
                texts = [*_comments(record)][: _COMMENTS - len(comments)]
                comments += [(text, record) for text in texts]


def _options(question: Question, language: Language, names: OptionNames) -> dict[str, str]:
    if options := named_options(question.type, question.values):
        return {value: question.displayed(value, language) for value in options}
    return dict(names[question.type])


def _comments(record: Feedback) -> Iterator[str]:
    for answer in record.answers:
        if answer.type is FieldType.LONG_TEXT:
            yield answer.values[0]
