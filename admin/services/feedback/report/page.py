"""Render the figures of a period as one HTML file without scripts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from admin.services.feedback.report.charts import Bar, column_chart
from admin.services.feedback.report.figures import (
    BANDS,
    MAX_READ,
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
    Nps,
    average_rating,
    nps_of,
    response_rate,
)

_NPS: Final = "NPS"
_STEP: Final = 20
"""The score at which the chart of the weeks ends is a multiple of this number."""

_MAX_COMMENT: Final = 600


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
    form_names: Mapping[tuple[FormKind, str], str]


@dataclass(frozen=True)
class Section:
    """A section of the report: bars, charts, and a table with the numbers of the charts.

    Attributes:
        legend: the styles of bars, with their meaning.
        bars: horizontal bars: a name, a text, and the parts of the bar. The values of the parts are
            shares of the width, from 0 to 1.
    """

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    note: str = ""
    legend: Sequence[tuple[str, str]] = ()
    bars: Sequence[tuple[str, str, Sequence[Bar]]] = ()
    charts: Sequence[Markup] = ()


@dataclass(frozen=True)
class Report:
    """The content of a report.

    Attributes:
        before: the figures of the previous period of the same length.
    """

    words: ReportWords
    scope: Scope
    now: Figures
    before: Figures
    details: Details

    def html(self) -> str:
        """Return the HTML of the report."""
        environment = Environment(
            loader=FileSystemLoader(Path(__file__).parent),
            autoescape=True,
            keep_trailing_newline=True,
        )
        return environment.get_template("report.html").render(report=self, words=self.words)

    @property
    def periods(self) -> tuple[str, str]:
        """The period and the previous one."""
        period = self.scope.period
        first, second = (
            self.words.days(each.first, each.last) for each in (period, period.previous)
        )
        return first, self.words.previous_value(second)

    def tiles(self) -> Iterator[tuple[str, str, Sequence[str]]]:
        """Yield the most important figures: title, value and notes."""
        words, now, before = self.words, self.now.total, self.before.total
        growth = (now[FEEDBACK] - before[FEEDBACK]) / before[FEEDBACK] if before[FEEDBACK] else None
        yield (
            words.responses,
            words.number(now[FEEDBACK]),
            self._change(words.growth(growth), words.number(before[FEEDBACK])),
        )
        yield (
            words.response_rate,
            words.percent(response_rate(now)),
            [
                words.sent_and_answered(now[SENT], now[ANSWERED]),
                words.previous_value(words.percent(response_rate(before))),
            ],
        )
        mean, earlier = average_rating(now), average_rating(before)
        change = words.signed(_difference(mean, earlier), "#,##0.00")
        yield (
            words.mean_rating,
            f"{words.decimal(mean)} / 10",
            self._change(change, words.decimal(earlier)),
        )
        nps, score = nps_of(now), nps_of(before).score
        change = words.signed(_difference(nps.score, score))
        interval = f"{words.percent(0.95)}: {self._interval(nps)}"
        note = words.few(MIN_ANSWERS) if nps.score is None else interval
        changes = self._change(change, words.signed(score))
        yield _NPS, words.signed(nps.score), [note, *changes]

    def _change(self, change: str, before: str) -> list[str]:
        previous = self.words.previous_value(before)
        return [previous if change == NOTHING else f"{change} · {previous}"]

    def sections(self) -> Iterator[Section]:
        """Yield the sections with charts and tables."""
        yield self._score()
        yield self._ratings()
        yield self._weeks()
        yield from self._stores()
        yield self._forms()
        for question in self.details.questions.values():
            if question.answers:
                yield self._question(question)

    def _score(self) -> Section:
        words, nps = self.words, nps_of(self.now.total)
        bars = self._bands(nps)
        return Section(
            f"Net Promoter Score ({_NPS})",
            note=words.score,
            legend=[
                (bar.style, f"{bar.name} ({_range(band)}): {self._with_share(bar)}")
                for bar, band in zip(bars, BANDS.values(), strict=True)
            ],
            bars=[(words.answers(nps.answers), words.signed(nps.score), bars)],
        )

    def _with_share(self, bar: Bar) -> str:
        return f"{bar.text} ({self.words.percent(bar.value)})"

    def _bands(self, nps: Nps) -> list[Bar]:
        """Return detractors, passives and promoters as parts of one bar."""
        return [
            Bar(name, n / nps.answers if nps.answers else None, self.words.number(n), style)
            for style, name, n in zip(
                BANDS, self.words.bands, (nps.detractors, nps.passives, nps.promoters), strict=True
            )
        ]

    def _ratings(self) -> Section:
        words = self.words
        styles = {value: style for style, ratings in BANDS.items() for value in ratings}
        counts, earlier = (
            [figures.total[rating(value)] for value in RATINGS]
            for figures in (self.now, self.before)
        )
        bars = [Bar(str(r), counts[r], words.number(counts[r]), styles[r]) for r in RATINGS]
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
            charts=[self._columns(words.responses, bars)],
        )

    def _weeks(self) -> Section:
        words = self.words
        shown = [(day, self.now.weeks.get(day, Numbers())) for day in self.scope.period.weeks()]
        scores = [(words.short_day(day), nps_of(numbers)) for day, numbers in shown]
        values = [abs(nps.score) for _, nps in scores if nps.score is not None]
        limit = _STEP * ceil(max(values, default=1) / _STEP)
        has_negative = any((nps.score or 0) < 0 for _, nps in scores)
        trend = [Bar(day, nps.score, words.signed(nps.score)) for day, nps in scores]
        responses = [
            Bar(words.short_day(day), n[FEEDBACK], words.number(n[FEEDBACK])) for day, n in shown
        ]
        return Section(
            words.weeks,
            [words.weeks, words.responses, words.mean_rating, *self._score_columns],
            [
                [
                    words.short_day(day),
                    words.number(numbers[FEEDBACK]),
                    words.decimal(average_rating(numbers)),
                    words.signed(nps.score),
                    self._interval(nps),
                ]
                for (day, numbers), (_, nps) in zip(shown, scores, strict=True)
            ],
            note=words.incomplete,
            charts=[
                self._columns(_NPS, trend, limit, -limit if has_negative else 0),
                self._columns(words.responses, responses),
            ],
        )

    def _columns(
        self, title: str, bars: Sequence[Bar], highest: float | None = None, lowest: float = 0
    ) -> Markup:
        is_right_to_left = self.words.is_right_to_left
        return column_chart(title, bars, highest, lowest, is_right_to_left=is_right_to_left)

    @property
    def _score_columns(self) -> tuple[str, str]:
        return _NPS, f"{_NPS}, {self.words.percent(0.95)}"

    def _interval(self, nps: Nps) -> str:
        low, high = self.words.signed(nps.low), self.words.signed(nps.high)
        return NOTHING if nps.score is None else f"{low} … {high}"

    def _stores(self) -> Iterator[Section]:
        """Yield one section per brand, with its stores by score; stores without score come last."""
        words = self.words
        by_brand: dict[str, list[tuple[str, Numbers, Nps, float | None]]] = defaultdict(list)
        for (brand_id, store_id), numbers in self.now.stores.items():
            nps = nps_of(numbers)
            before = nps_of(self.before.stores.get((brand_id, store_id), Numbers())).score
            by_brand[self._place(brand_id)].append(
                (self._place(store_id), numbers, nps, _difference(nps.score, before))
            )
        for brand, stores in sorted(by_brand.items()):
            stores.sort(key=lambda row: (row[2].score is None, -(row[2].score or 0), row[0]))
            bars = [
                (
                    name,
                    words.signed(nps.score)
                    + ("" if change is None else f" ({words.signed(change)})"),
                    self._bands(nps),
                )
                for name, _, nps, change in stores
                if nps.score is not None
            ]
            yield Section(
                f"{words.stores}\N{NO-BREAK SPACE}· {brand}",
                [words.stores, _NPS, words.change, *self._group_columns],
                [
                    [name, words.signed(nps.score), words.signed(change), *self._cells(numbers)]
                    for name, numbers, nps, change in stores
                ],
                legend=[*zip(BANDS, words.bands, strict=True)] if bars else [],
                bars=bars,
            )

    def _place(self, place_id: str | None) -> str:
        """Return the name of a brand or a store."""
        if place_id is None:
            return self.words.no_store
        return self.scope.directory.name_of(place_id) or self.words.deleted

    @property
    def _group_columns(self) -> Sequence[str]:
        words = self.words
        return words.responses, words.mean_rating, words.sent, words.response_rate

    def _cells(self, numbers: Numbers) -> list[str]:
        words = self.words
        return [
            words.number(numbers[FEEDBACK]),
            words.decimal(average_rating(numbers)),
            words.number(numbers[SENT]),
            words.percent(response_rate(numbers)),
        ]

    def _forms(self) -> Section:
        words = self.words
        named = sorted(
            (
                (self.scope.form_names.get(form, words.deleted), n)
                for form, n in self.now.forms.items()
            ),
            key=lambda row: row[0],
        )
        return Section(
            words.forms,
            [words.forms, _NPS, *self._group_columns],
            [[name, words.signed(nps_of(n).score), *self._cells(n)] for name, n in named],
        )

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
            note=f"{question.form_name} · {words.answers(question.answers)}",
            bars=[] if is_scale else [(bar.name, self._with_share(bar), [bar]) for bar in bars],
            charts=[self._columns(words.responses, bars)] if is_scale else [],
        )

    def comments(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield the newest comments of each band: title, texts and notes."""
        for style, ratings in BANDS.items():
            if comments := self.details.comments.get(style):
                yield (
                    self.words.rating(_range(ratings)),
                    [(_shortened(text), self._source(record)) for text, record in comments],
                )

    def _source(self, record: Feedback) -> str:
        day = self.words.day(record.created_at.astimezone(self.scope.zone).date())
        store = self.scope.directory.name_of(record.store_id or "")
        return " · ".join(filter(None, (self.words.rating(str(record.rating)), day, store)))

    def notes(self) -> Iterator[str]:
        """Yield the notes at the end."""
        yield self.words.interval_note
        yield self.words.few(MIN_ANSWERS)
        yield self.words.rate_note
        yield self.words.no_tests
        if self.details.read >= MAX_READ:
            yield self.words.newest(MAX_READ)


def _range(ratings: range) -> str:
    return f"{ratings[0]}–{ratings[-1]}"


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _difference(now: float | None, before: float | None) -> float | None:
    return None if now is None or before is None else now - before


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_COMMENT else f"{text[: _MAX_COMMENT - 1]}…"
