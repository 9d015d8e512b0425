"""Render the figures of a period as one HTML file without scripts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from admin.feedback.report.charts import Bar, column_chart, row_chart
from admin.feedback.report.figures import (
    BANDS,
    MAX_READ,
    Comment,
    Details,
    Figures,
    Period,
    QuestionResult,
)
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.feedback.daily import ANSWERED, FEEDBACK, RATINGS, SENT, Numbers, rating
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.feedback.statistics import (
    MIN_ANSWERS,
    Nps,
    average_rating,
    nps_of,
    response_rate,
)

_STYLES: Final = dict(zip(BANDS, ("low", "middle", "high"), strict=True))
_MAX_COMMENT: Final = 600
_NOTHING: Final = "–"
_FEW: Final = f"fewer than {MIN_ANSWERS} answers"


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
    """A section of the report: charts, and a table with the same numbers."""

    title: str
    text: str
    charts: Sequence[Markup]
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def render_report(scope: Scope, current: Figures, previous: Figures, details: Details) -> str:
    """Return the HTML of the report.

    Args:
        previous: the figures of the previous period of the same length.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, keep_trailing_newline=True
    )
    report = {
        "account_name": scope.account_name,
        "period": _days(scope.period),
        "previous_period": _days(scope.period.previous),
        "zone": scope.zone.key,
        "scope": scope.filters,
        "tiles": list(_tiles(current.total, previous.total)),
        "sections": [
            _score_section(current.total),
            _ratings(current.total, previous.total),
            _weeks(scope.period, current),
            *_stores(scope, current, previous),
            _forms(scope, current),
            *(_question(each) for each in details.questions.values() if each.answers),
        ],
        "comments": _comments(scope, details),
        "notes": [*_NOTES, *_read_note(details)],
    }
    return environment.get_template("report.html").render(report=report)


def _days(period: Period) -> str:
    return f"{_day(period.first)} to {_day(period.last)}"


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _tiles(now: Numbers, before: Numbers) -> Iterator[dict[str, str]]:
    responses, earlier = now[FEEDBACK], before[FEEDBACK]
    yield {
        "title": "Responses",
        "value": f"{responses:,}",
        "note": f"{(responses - earlier) / earlier:+.0%} from {earlier:,}"
        if earlier
        else "none in the previous period",
    }
    rate, rate_before = (
        100 * rate if (rate := response_rate(numbers)) is not None else None
        for numbers in (now, before)
    )
    yield {
        "title": "Response rate",
        "value": _rate(now),
        "note": f"{now[ANSWERED]:,} of {now[SENT]:,} surveys sent;"
        f" {_change(rate, rate_before, '{:+z.0f} points')}"
        if now[SENT]
        else "no survey was sent",
    }
    mean = average_rating(now)
    yield {
        "title": "Mean rating (0 to 10)",
        "value": _decimal(mean),
        "note": _change(mean, average_rating(before), "{:+z.2f}"),
    }
    nps = nps_of(now)
    change = _change(nps.score, nps_of(before).score, "{:+z.0f}")
    note = _FEW if nps.score is None else f"95%: {_interval(nps)}; {change}"
    yield {"title": "Net Promoter Score", "value": _signed(nps.score), "note": note}


def _change(now: float | None, before: float | None, form: str) -> str:
    return (
        "no previous value"
        if now is None or before is None
        else f"{form.format(now - before)} from the previous period"
    )


def _rate(numbers: Numbers) -> str:
    rate = response_rate(numbers)
    return "not known" if rate is None else f"{rate:.0%}"


def _decimal(number: float | None) -> str:
    return _NOTHING if number is None else f"{number:.2f}"


def _signed(score: float | None) -> str:
    """Return the rounded score with its sign; a score of zero has no sign."""
    if score is None:
        return _NOTHING
    return f"{round(score):+d}" if round(score) else "0"


def _interval(nps: Nps) -> str:
    return _NOTHING if nps.score is None else f"{_signed(nps.low)} to {_signed(nps.high)}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else _NOTHING


def _bands(nps: Nps) -> list[Bar]:
    """Return detractors, passives and promoters as parts of one bar."""
    parts = {"Detractors": nps.detractors, "Passives": nps.passives, "Promoters": nps.promoters}
    return [
        Bar(name, number / nps.answers if nps.answers else None, f"{number:,}", style)
        for (name, number), style in zip(parts.items(), _STYLES.values(), strict=True)
    ]


def _score_section(now: Numbers) -> Section:
    nps = nps_of(now)
    bands = _bands(nps)
    return Section(
        "Net Promoter Score",
        "The score is the percentage of promoters minus that of detractors.",
        [
            row_chart(
                f"Answers: {nps.answers:,}",
                [("", ", ".join(f"{bar.name} {bar.value or 0:.0%}" for bar in bands), bands)],
            )
        ],
        "Answers to the question how likely a recommendation is",
        ["Answers", "Number", "Share"],
        [
            [f"{bar.name} ({range_})", bar.text, f"{bar.value or 0:.1%}"]
            for bar, range_ in zip(bands, ("0 to 6", "7 and 8", "9 and 10"), strict=True)
        ],
    )


def _ratings(now: Numbers, before: Numbers) -> Section:
    styles = {value: _STYLES[band] for band, ratings in BANDS.items() for value in ratings}
    counts, earlier = ([numbers[rating(value)] for value in RATINGS] for numbers in (now, before))
    bars = [Bar(str(r), counts[r], f"{counts[r]:,}", styles[r]) for r in RATINGS]
    return Section(
        "Ratings",
        f"{sum(counts):,} of {now[FEEDBACK]:,} responses have a rating.",
        [column_chart("Number of responses by rating", bars)],
        "Number of responses by rating",
        ["Rating", "Responses", "Share", "Share before"],
        [
            [str(r), bars[r].text, _share(counts[r], sum(counts)), _share(earlier[r], sum(earlier))]
            for r in RATINGS
        ],
    )


def _weeks(period: Period, figures: Figures) -> Section:
    shown = [(monday, figures.weeks.get(monday, Numbers())) for monday in period.weeks()]
    scores = [(monday, nps_of(numbers)) for monday, numbers in shown]
    return Section(
        "By week",
        "The first and the last week can be incomplete. A week with fewer than"
        f" {MIN_ANSWERS} answers has no score.",
        [
            column_chart(
                "Net Promoter Score by week",
                [Bar(_short(day), nps.score, _signed(nps.score)) for day, nps in scores],
                highest=100,
                lowest=-100,
            ),
            column_chart(
                "Number of responses by week",
                [Bar(_short(day), n[FEEDBACK], f"{n[FEEDBACK]:,}") for day, n in shown],
            ),
        ],
        "Responses, mean rating and Net Promoter Score by week",
        ["Week from", "Responses", "Mean rating", "NPS", "NPS interval"],
        [
            [
                day.isoformat(),
                f"{numbers[FEEDBACK]:,}",
                _decimal(average_rating(numbers)),
                _signed(nps.score),
                _interval(nps),
            ]
            for (day, numbers), (_, nps) in zip(shown, scores, strict=True)
        ],
    )


def _short(day: date) -> str:
    return f"{day.day} {day:%b}"


def _stores(scope: Scope, now: Figures, before: Figures) -> Iterator[Section]:
    """Yield one section per brand, with its stores by score; stores without a score come last."""
    by_brand: dict[str | None, list[str | None]] = defaultdict(list)
    for brand_id, store_id in now.stores:
        by_brand[brand_id].append(store_id)
    for brand_id in sorted(by_brand, key=lambda each: _place(scope, each, "no brand")):
        stores = [
            (
                _place(scope, store_id, "no store"),
                now.stores[brand_id, store_id],
                before.stores.get((brand_id, store_id), Numbers()),
            )
            for store_id in by_brand[brand_id]
        ]
        scored = [(name, n, nps_of(n), nps_of(b)) for name, n, b in stores]
        scored.sort(key=lambda row: (row[2].score is None, -(row[2].score or 0), row[0]))
        changes = [
            _NOTHING if nps.score is None or b.score is None else f"{nps.score - b.score:+z.0f}"
            for _, _, nps, b in scored
        ]
        title = f"Stores: {_place(scope, brand_id, 'no brand')}"
        yield Section(
            title,
            "By score, with the change from the previous period. The bars show detractors,"
            " passives and promoters.",
            [
                row_chart(
                    title,
                    [
                        (
                            name,
                            _FEW
                            if nps.score is None
                            else f"{_signed(nps.score)}"
                            + ("" if change == _NOTHING else f" ({change})"),
                            [] if nps.score is None else _bands(nps),
                        )
                        for (name, _, nps, _), change in zip(scored, changes, strict=True)
                    ],
                )
            ],
            "Net Promoter Score, responses and response rate by store",
            ["Store", "NPS", "Change", *_GROUP_COLUMNS],
            [
                [name, _signed(nps.score), change, *_cells(numbers)]
                for (name, numbers, nps, _), change in zip(scored, changes, strict=True)
            ],
        )


def _place(scope: Scope, place_id: str | None, missing: str) -> str:
    return (scope.directory.name_of(place_id) or "deleted") if place_id else missing


_GROUP_COLUMNS: Final = ("Responses", "Mean rating", "Surveys sent", "Response rate")


def _cells(numbers: Numbers) -> list[str]:
    return [
        f"{numbers[FEEDBACK]:,}",
        _decimal(average_rating(numbers)),
        f"{numbers[SENT]:,}",
        _rate(numbers),
    ]


def _forms(scope: Scope, figures: Figures) -> Section:
    named = sorted(
        (scope.form_names.get(form, "deleted form"), numbers)
        for form, numbers in figures.forms.items()
    )
    return Section(
        "Forms",
        "",
        [],
        "Net Promoter Score, responses and response rate by form",
        ["Form", "NPS", *_GROUP_COLUMNS],
        [[name, _signed(nps_of(numbers).score), *_cells(numbers)] for name, numbers in named],
    )


def _question(question: QuestionResult) -> Section:
    removed = [value for value in question.counts if value not in question.options]
    options = question.options | {value: value for value in removed}
    rows = [
        [name, f"{question.counts[value]:,}", _share(question.counts[value], question.answers)]
        for value, name in options.items()
    ]
    bars = [
        Bar(name, question.counts[value] / question.answers, f"{question.counts[value]:,}")
        for value, name in options.items()
    ]
    return Section(
        question.label,
        f"{question.form_name}. Answers: {question.answers:,}.",
        [
            row_chart(
                question.label,
                [(bar.name, f"{bar.text} ({bar.value:.0%})", [bar]) for bar in bars],
            )
        ],
        "Number of responses by answer",
        ["Answer", "Responses", "Share"],
        rows,
    )


_NOTES: Final = (
    "The 95% confidence interval of the Net Promoter Score is the adjusted Wald interval, extended"
    " to the score if it excludes the score.",
    "The response rate is the share of the surveys sent in this period that have been answered"
    " until now. A survey counts at the store at which it was sent, and also if its sending was"
    " interrupted.",
    f"There is no Net Promoter Score for fewer than {MIN_ANSWERS} answers.",
    "Test responses are excluded.",
)


def _read_note(details: Details) -> Iterator[str]:
    if details.read >= MAX_READ:
        yield (
            f"The results of questions and the comments are from the newest {MAX_READ:,} responses"
            " of the account in this period."
        )


def _comments(scope: Scope, details: Details) -> dict[str, list[dict[str, str]]]:
    return {
        band: [
            {"text": _shortened(comment.text), "note": _note(scope, comment)}
            for comment in details.comments[band]
        ]
        for band in BANDS
        if details.comments.get(band)
    }


def _note(scope: Scope, comment: Comment) -> str:
    store = scope.directory.name_of(comment.store_id or "")
    day = _day(comment.created_at.astimezone(scope.zone).date())
    return ", ".join(filter(None, (f"Rating {comment.rating}", day, store)))


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_COMMENT else f"{text[: _MAX_COMMENT - 1]}…"
