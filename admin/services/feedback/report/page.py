"""Render the figures of a period as one HTML file without scripts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, groupby
from math import ceil, inf
from pathlib import Path
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from admin.services.feedback.report.changes import Change, Group, Verdict, compare
from admin.services.feedback.report.charts import Bar, column_chart
from admin.services.feedback.report.figures import (
    BANDS,
    Details,
    Figures,
    Period,
    QuestionResult,
)
from admin.services.feedback.report.words import NOTHING, ReportWords
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.feedback.daily import ANSWERED, FEEDBACK, RATINGS, SENT, Numbers, rating
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.feedback.statistics import (
    MIN_ANSWERS,
    average_rating,
    nps_of,
    response_rate,
)

_NPS: Final = "NPS"
_STEP: Final = 20
"""The score at which the chart of the weeks ends is a multiple of this number."""

_MAX_COMMENT: Final = 600
_COMMENTS: Final = 4
"""The number of newest comments of each band."""

_REASONS: Final = 10
"""The number of comments on a clear change."""

_SIGNS: Final = {Verdict.WORSE: "▼", Verdict.BETTER: "▲", Verdict.CHANCE: "≈"}

Comment = tuple[str, Feedback, str]
"""A text, its record, and the rating, the day and the store."""


@dataclass(frozen=True)
class Scope:
    """The feedback that a report is about.

    Attributes:
        filters: the names of the form, brand and store to which the report is restricted; ``""``
            for all of them.
        form_names: the names of the account's forms by kind and id.
    """

    account_name: str
    period: Period
    zone: ZoneInfo
    filters: str
    directory: Directory
    form_names: Mapping[Group, str]


class Row(NamedTuple):
    """A row of the list of changes.

    Attributes:
        change: the change of the value; ``""`` if it is not known.
        texts: the meaning and the value, and the previous value.
    """

    verdict: Verdict
    sign: str
    name: str
    change: str
    texts: Sequence[str]


@dataclass(frozen=True)
class Section:
    """A section of the report: bars, charts, and a table with the numbers of the charts.

    Attributes:
        legend: the styles of bars, with their meaning.
        bars: horizontal bars. Their values are shares of the width, from 0 to 1.
    """

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    note: str = ""
    legend: Sequence[tuple[str, str]] = ()
    bars: Sequence[Bar] = ()
    charts: Sequence[Markup] = ()

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the columns and the rows, without columns that have no value."""
        filled = [any(row[n] != NOTHING for row in self.rows) for n in range(len(self.columns))]
        columns, *rows = ([*compress(row, filled)] for row in (self.columns, *self.rows))
        return columns, rows


@dataclass(frozen=True)
class Report:
    """The content of a report.

    Attributes:
        before: the figures of the previous period of the same length.
        details: the questions and the comments of the period.
        changes: the changes of the stores, or of the forms.
        chapters: the first clear changes, with the details of the period and the previous one.
    """

    words: ReportWords
    scope: Scope
    now: Figures
    before: Figures
    details: Details
    changes: Sequence[Change]
    chapters: Sequence[tuple[Change, Details, Details]]

    def html(self) -> str:
        """Return the HTML of the report."""
        environment = Environment(
            loader=FileSystemLoader(Path(__file__).parent),
            autoescape=True,
            keep_trailing_newline=True,
        )
        return environment.get_template("report.html").render(report=self, words=self.words)

    def summary(self) -> tuple[str, str]:
        """Return the subject and the text of the e-mail with the report."""
        words, rises = self.words, {row: rises for row, _, rises, _ in self.reasons()}
        subject = f"{self.scope.account_name} – {words.title} · {self.periods[0]}"
        parts = [
            [f"{row.sign} {row.name} {row.change}", *row.texts]
            + [f"{label} {answer} {shares}" for label, answer, shares in rises.get(row, ())]
            for row in self.rows()
            if not row.verdict.is_open
        ] or [[words.nothing_clear]]
        total = [f"{title} {value}" for title, value, _ in self.tiles()]
        parts = [[subject], *parts, [self.others()], [words.in_total, *total], [words.attached]]
        return subject, "\n\n".join("\n".join(part) for part in parts if part != [""]) + "\n"

    @property
    def periods(self) -> tuple[str, str]:
        """The period and the previous one."""
        period = self.scope.period
        first, second = (
            self.words.days(each.first, each.last) for each in (period, period.previous)
        )
        return first, self.words.previous_value(second)

    def rows(self) -> list[Row]:
        """Return the list of changes."""
        return [self._row(change) for change in self.changes]

    def _row(self, change: Change) -> Row:
        words, texts = self.words, []
        for value, number in zip(change.values, change.answers, strict=True):
            score = f"{_NPS} {words.signed(value)}"
            text = score if change.is_score else f"{words.mean_rating} {words.decimal(value)}"
            texts.append([*([] if value is None else [text]), words.answers(number)])
        is_known = None not in change.values
        return Row(
            change.verdict,
            _SIGNS.get(change.verdict, "•"),
            self._name(change.group),
            words.signed(change.difference, is_whole=change.is_score) if is_known else "",
            (
                " · ".join([words.verdicts[change.verdict], *texts[0]]),
                words.previous_value(" · ".join(texts[1])),
            ),
        )

    def others(self) -> str:
        """Return the numbers of changes that may be chance, and of groups with too few answers."""
        numbers = Counter(change.verdict for change in self.changes if change.verdict.is_open)
        return " · ".join(f"{self.words.verdicts[each]} ({n})" for each, n in numbers.items())

    def is_mixed(self) -> bool:
        """Whether the total is clearly opposite to all clear changes, by the shares of the groups.

        This is Simpson's paradox: with the present shares, the groups move the other way.
        """
        clear, total = {change.verdict for change, *_ in self.chapters}, self._total
        moved = sum(each.answers[0] * each.difference for each in self.changes)
        is_clear = {total.verdict, *clear} == {Verdict.WORSE, Verdict.BETTER}
        return is_clear and len(clear) == 1 and moved * total.difference < 0

    @property
    def _total(self) -> Change:
        everything: Group = (None, None)
        return compare({everything: self.now.total}, {everything: self.before.total})[0]

    def reasons(self) -> Iterator[tuple[Row, str, list[tuple[str, ...]], list[Comment]]]:
        """Yield each clear change, its numbers of responses, its risen answers and its comments.

        The lowest ratings come first, but the highest ones of a better group.
        """
        words = self.words
        for change, now, before in self.chapters:
            sign = 1 if change.verdict is Verdict.WORSE else -1
            comments = sorted(
                now.comments,
                key=lambda each: inf if each[1].rating is None else sign * each[1].rating,
            )
            yield (
                self._row(change),
                self._with_before(*(words.read(each.read, each.total) for each in (now, before))),
                [
                    (*names, self._with_before(words.percent(share), words.percent(earlier)))
                    for *names, share, earlier in now.rises(before)
                ],
                [self._comment(*each, change.group[1]) for each in comments[:_REASONS]],
            )

    def _with_before(self, now: str, before: str) -> str:
        return f"{now} · {self.words.previous_value(before)}"

    def tiles(self) -> Iterator[tuple[str, str, Sequence[str]]]:
        """Yield the most important figures: title, value and notes."""
        words, now, before = self.words, self.now.total, self.before.total
        growth = (now[FEEDBACK] - before[FEEDBACK]) / before[FEEDBACK] if before[FEEDBACK] else None
        yield (
            words.responses,
            words.number(now[FEEDBACK]),
            self._change(words.growth(growth), words.number(before[FEEDBACK])),
        )
        if now[SENT]:
            yield (
                words.response_rate,
                words.percent(response_rate(now)),
                [
                    words.sent_and_answered(now[SENT], now[ANSWERED]),
                    words.previous_value(words.percent(response_rate(before))),
                ],
            )
        mean, earlier = average_rating(now), average_rating(before)
        if mean is not None:
            change = words.signed(_difference(mean, earlier), is_whole=False)
            notes = self._change(change, words.decimal(earlier))
            yield words.mean_rating, f"{words.decimal(mean)} / 10", notes
        nps, score = nps_of(now), nps_of(before).score
        if nps.answers:
            change = words.signed(_difference(nps.score, score))
            verdict = [] if change == NOTHING else [words.verdicts[self._total.verdict]]
            interval = words.interval(nps.low, nps.high)
            note = words.few(MIN_ANSWERS) if nps.score is None else interval
            notes = [*verdict, *self._change(change, words.signed(score)), note]
            yield _NPS, words.signed(nps.score), notes

    def _change(self, change: str, before: str) -> list[str]:
        previous = self.words.previous_value(before)
        return [previous if change == NOTHING else f"{change} · {previous}"]

    def sections(self) -> Iterator[Section]:
        """Yield the sections with charts and tables."""
        if average_rating(self.now.total) is not None:
            yield self._ratings()
        if self.now.total[FEEDBACK]:
            yield self._weeks()
        for title, now, before in (
            (self.words.stores, self.now.stores, self.before.stores),
            (self.words.forms, self.now.forms, self.before.forms),
        ):
            if len(now) > 1:
                yield self._groups(title, now, before)

    def questions(self) -> Iterator[tuple[str, list[Section]]]:
        """Yield the results of the questions of each form."""
        answered = (each for each in self.details.questions.items() if each[1].answers)
        for _, items in groupby(answered, key=lambda item: item[0][0]):
            questions = [question for _, question in items]
            yield questions[0].form_name, [self._question(each) for each in questions]

    def _ratings(self) -> Section:
        words = self.words
        styles = {value: style for style, ratings in BANDS.items() for value in ratings}
        counts, earlier = (
            [figures.total[rating(value)] for value in RATINGS]
            for figures in (self.now, self.before)
        )
        bars = [Bar(str(r), counts[r], words.number(counts[r]), styles[r]) for r in RATINGS]
        bands = zip(BANDS.items(), words.bands, strict=True)
        return Section(
            words.ratings,
            [words.ratings, words.responses, words.share, words.previous],
            [
                [
                    str(r),
                    bars[r].text,
                    words.percent(_share(counts[r], sum(counts))),
                    words.percent(_share(earlier[r], sum(earlier))),
                ]
                for r in RATINGS
            ],
            note=words.answers(sum(counts)),
            legend=[(style, f"{name} ({_range(band)})") for (style, band), name in bands],
            charts=[self._columns(words.responses, bars)],
        )

    def _weeks(self) -> Section:
        words = self.words
        shown = [(day, self.now.weeks.get(day, Numbers())) for day in self.scope.period.weeks()]
        scores = [nps_of(numbers).score for _, numbers in shown]
        names = [words.short_day(day) for day, _ in shown]
        limit = _STEP * ceil(max((abs(score) for score in scores if score), default=1) / _STEP)
        lowest = -limit if any((score or 0) < 0 for score in scores) else 0
        trend = [Bar(n, s, words.signed(s)) for n, s in zip(names, scores, strict=True)]
        responses = [
            Bar(name, n[FEEDBACK], words.number(n[FEEDBACK]))
            for name, (_, n) in zip(names, shown, strict=True)
        ]
        is_scored = any(score is not None for score in scores)
        return Section(
            words.weeks,
            [words.weeks, words.responses, words.mean_rating, _NPS],
            [
                [bar.name, bar.text, words.decimal(average_rating(numbers)), score.text]
                for bar, score, (_, numbers) in zip(responses, trend, shown, strict=True)
            ],
            note=words.incomplete,
            charts=[
                *([self._columns(_NPS, trend, limit, lowest)] if is_scored else []),
                self._columns(words.responses, responses),
            ],
        )

    def _columns(
        self, title: str, bars: Sequence[Bar], highest: float | None = None, lowest: float = 0
    ) -> Markup:
        is_right_to_left = self.words.is_right_to_left
        return column_chart(title, bars, highest, lowest, is_right_to_left=is_right_to_left)

    def _groups(
        self, title: str, now: Mapping[Group, Numbers], before: Mapping[Group, Numbers]
    ) -> Section:
        """Return the table of stores or forms by score; those without score come last."""
        words, rows = self.words, []
        for group, numbers in now.items():
            score = nps_of(numbers).score
            change = _difference(score, nps_of(before.get(group, Numbers())).score)
            name = self._name(group)
            cells = [
                name,
                words.signed(score),
                words.signed(change),
                words.number(numbers[FEEDBACK]),
                words.decimal(average_rating(numbers)),
                words.number(numbers[SENT]) if numbers[SENT] else NOTHING,
                words.percent(response_rate(numbers)),
            ]
            rows.append(((inf if score is None else -score, name), cells))
        columns = [title, _NPS, words.change, words.responses, words.mean_rating, words.sent]
        return Section(title, [*columns, words.response_rate], [cells for _, cells in sorted(rows)])

    def _name(self, group: Group) -> str:
        """Return the name of a form, of a store, or of a brand without a particular store."""
        if group[0] in [*FormKind]:
            return self.scope.form_names.get(group, self.words.deleted)
        brand, store = (each and self.scope.directory.name_of(each) for each in group)
        if store is None:
            return " · ".join(filter(None, (brand, self.words.no_store)))
        return store or self.words.deleted

    def _question(self, question: QuestionResult) -> Section:
        words, counts = self.words, question.counts
        removed = {value: value for value in counts if value not in question.options}
        bars = [
            Bar(name, counts[value] / question.answers, words.number(counts[value]))
            for value, name in (question.options | removed).items()
        ]
        is_scale = all(name.isdecimal() for name in question.options.values())
        return Section(
            question.label,
            note=words.answers(question.answers),
            bars=[] if is_scale else bars,
            charts=[self._columns(words.responses, bars)] if is_scale else [],
        )

    def comments(self) -> Iterator[tuple[str, list[Comment]]]:
        """Yield the newest comments of each band: title and comments."""
        for ratings in BANDS.values():
            found = [each for each in self.details.comments if each[1].rating in ratings]
            if found:
                title = self.words.rating(_range(ratings))
                yield title, [self._comment(*each) for each in found[:_COMMENTS]]

    def _comment(self, text: str, record: Feedback, known: str | None = None) -> Comment:
        """Return a comment. The store is omitted if it is known."""
        day = self.words.day(record.created_at.astimezone(self.scope.zone).date())
        stars = "" if record.rating is None else self.words.rating(str(record.rating))
        is_named = record.store_id and record.store_id != known
        store = self.scope.directory.name_of(record.store_id or "") if is_named else ""
        return _shortened(text), record, " · ".join(filter(None, (stars, day, store)))

    def notes(self) -> Iterator[str]:
        """Yield the notes at the end."""
        yield self.words.read(self.details.read, self.details.total)
        yield self.words.chance_note
        yield self.words.score
        if self.now.total[SENT]:
            yield self.words.rate_note
        yield self.words.no_tests


def _range(ratings: range) -> str:
    return f"{ratings[0]}–{ratings[-1]}"


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _difference(now: float | None, before: float | None) -> float | None:
    return None if now is None or before is None else now - before


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_COMMENT else f"{text[: _MAX_COMMENT - 1]}…"
