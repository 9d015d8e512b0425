"""Render the figures of a period as one HTML file without scripts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from admin.feedback.report.charts import Bar, column_chart, row_chart
from admin.feedback.report.figures import (
    BANDS,
    RATINGS,
    SENT_KEYS,
    Breakdown,
    Comment,
    Figures,
    Group,
    Nps,
    periods,
)
from chalicelib.domain.accounts.places import Directory

_STYLES: Final = dict(zip(BANDS, ("low", "middle", "high"), strict=True))
_MAX_COMMENT: Final = 600
_MIN_ANSWERS: Final = 10
"""The number of answers from which a Net Promoter Score is shown."""

_MAX_ROWS: Final = 30
_NOTHING: Final = "–"
_UNKNOWN: Final = "not known"


@dataclass(frozen=True)
class Scope:
    """The feedback that a report is about.

    Attributes:
        previous_since: the start of the previous period, which ends at the start of this period.
        until: the end of the period; feedback from this time on is not in the period.
        form_name: the name of the only form or survey; None for all of them.
        survey_names: the names of the account's surveys by id.
    """

    account_name: str
    previous_since: datetime
    since: datetime
    until: datetime
    form_name: str | None
    directory: Directory
    survey_names: Mapping[str, str]


@dataclass(frozen=True)
class Section:
    """A section of the report: charts, and a table with the same numbers."""

    title: str
    text: str
    charts: Sequence[Markup]
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def render_report(scope: Scope, current: Figures, previous: Figures) -> str:
    """Return the HTML of the report.

    Args:
        previous: the figures of the previous period of the same length.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, keep_trailing_newline=True
    )
    sections = [_distribution(current.total, previous.total)]
    sections += [_section(b, scope, current, previous) for b in current.breakdowns]
    report = {
        "account_name": scope.account_name,
        "period": _period(scope.since, scope.until, current),
        "previous_period": _period(scope.previous_since, scope.since, current),
        "zone": current.zone.key,
        "scope": scope.form_name,
        "tiles": list(_tiles(current, previous)),
        "sections": sections,
        "comments": _comments(scope, current),
        "notes": [*_NOTES, f"Test responses are excluded ({current.tests} in this period)."],
    }
    return environment.get_template("report.html").render(report=report)


def _period(since: datetime, until: datetime, figures: Figures) -> str:
    last = until - timedelta(milliseconds=1)
    days = (f"{_day(time, figures)}" for time in (since, last))
    return " to ".join(days)


def _day(time: datetime, figures: Figures) -> str:
    local = time.astimezone(figures.zone)
    return f"{local.day} {local:%B %Y}"


def _tiles(current: Figures, previous: Figures) -> Iterator[dict[str, str]]:
    now, before = current.total, previous.total
    yield {
        "title": "Responses",
        "value": f"{now.responses:,}",
        "note": _share_change(now.responses, before.responses),
    }
    rate, rate_before = now.response_rate, before.response_rate
    yield {
        "title": "Response rate",
        "value": _rate(now),
        "note": f"{now.answered:,} of {now.sent:,} surveys sent;"
        f" {_change(_percentage(rate), _percentage(rate_before), '{:+z.0f} points')}"
        if now.sent
        else "no survey was sent",
    }
    yield {
        "title": "Mean rating (0 to 10)",
        "value": _decimal(now.mean),
        "note": _change(now.mean, before.mean, "{:+z.2f}"),
    }
    nps, nps_before = now.nps, before.nps
    note = f"fewer than {_MIN_ANSWERS} answers"
    if nps and _is_enough(now):
        change = _change(
            nps.score, nps_before.score if nps_before and _is_enough(before) else None, "{:+z.0f}"
        )
        note = f"95%: {_interval(nps)}; {change}"
    yield {"title": "Net Promoter Score", "value": _score(now), "note": note}


def _share_change(now: int, before: int) -> str:
    return (
        f"{(now - before) / before:+.0%} from {before:,}"
        if before
        else "none in the previous period"
    )


def _change(now: float | None, before: float | None, form: str) -> str:
    return (
        "no previous value"
        if now is None or before is None
        else f"{form.format(now - before)} from the previous period"
    )


def _percentage(rate: float | None) -> float | None:
    return None if rate is None else 100 * rate


def _rate(group: Group) -> str:
    return _UNKNOWN if group.response_rate is None else f"{group.response_rate:.0%}"


def _decimal(number: float | None) -> str:
    return _NOTHING if number is None else f"{number:.2f}"


def _score(group: Group) -> str:
    return _signed(group.nps.score) if group.nps and _is_enough(group) else _NOTHING


def _is_enough(group: Group) -> bool:
    """Return whether a group has enough answers for a Net Promoter Score."""
    return group.recommendations.total() >= _MIN_ANSWERS


def _signed(score: float) -> str:
    """Return the rounded score with its sign; a score of zero has no sign."""
    return f"{round(score):+d}" if round(score) else "0"


def _distribution(now: Group, before: Group) -> Section:
    styles = {rating: _STYLES[band] for band, ratings in BANDS.items() for rating in ratings}
    bars = [Bar(str(r), now.ratings[r], f"{now.ratings[r]:,}", styles[r]) for r in RATINGS]
    return Section(
        "Ratings",
        f"{now.ratings.total():,} of {now.responses:,} responses have a rating. The colours show "
        "the bands of the Net Promoter Score: low (0 to 6), middle (7 and 8) and high (9 and 10).",
        [column_chart("Number of responses by rating", bars)],
        "Number of responses by rating",
        ["Rating", "Responses", "Share", "Share before"],
        [[str(r), f"{now.ratings[r]:,}", _share(now, r), _share(before, r)] for r in RATINGS],
    )


def _share(group: Group, rating: int) -> str:
    rated = group.ratings.total()
    return f"{group.ratings[rating] / rated:.1%}" if rated else _NOTHING


def _section(breakdown: Breakdown, scope: Scope, now: Figures, before: Figures) -> Section:
    """Return the section of a breakdown. Groups that only the previous period has are omitted."""
    if breakdown in (Breakdown.WEEK, Breakdown.MONTH):
        return _over_time(breakdown, scope, now)
    name_of = _NAMES[breakdown](scope)
    rates = _RATE_COLUMNS if breakdown in SENT_KEYS else {}
    groups, earlier = now.groups_by(breakdown), before.groups_by(breakdown)
    largest = sorted(groups, key=lambda key: (-groups[key].responses, name_of(key)))
    bars = [
        Bar(name_of(key), groups[key].mean, f"{_decimal(groups[key].mean)} ({_count(groups[key])})")
        for key in largest[:_MAX_ROWS]
    ]
    title = f"Mean rating by {breakdown}, and number of responses"
    return Section(
        f"By {breakdown}",
        "The bars show the mean rating; in brackets, the number of responses. Only the "
        f"{_MAX_ROWS} groups with the most responses are shown."
        if len(largest) > _MAX_ROWS
        else "The bars show the mean rating.",
        [row_chart(title, bars, highest=10)],
        f"Responses, mean rating and Net Promoter Score by {breakdown}",
        [str(breakdown).capitalize(), *_GROUP_COLUMNS, *rates, "Before", "Mean before"],
        [
            [
                name_of(key),
                *_cells(groups[key]),
                *(value_of(groups[key]) for value_of in rates.values()),
                f"{earlier[key].responses:,}" if key in earlier else "0",
                _decimal(earlier[key].mean) if key in earlier else _NOTHING,
            ]
            for key in largest
        ],
    )


_GROUP_COLUMNS: Final = ("Responses", "Mean rating", "NPS", "NPS interval")

_RATE_COLUMNS: Final[Mapping[str, Callable[[Group], str]]] = {
    "Surveys sent": lambda group: f"{group.sent:,}",
    "Response rate": _rate,
}
"""The columns of breakdowns with a response rate, by title."""

_NOTES: Final = (
    "The 95% confidence interval of the Net Promoter Score is the adjusted Wald interval, extended"
    " to the score if it excludes the score.",
    "The response rate is the share of the surveys sent in this period that have been answered"
    " until now. Surveys with the outcome UNKNOWN do not count as sent, and surveys of erased"
    " customers do not count at all. If a purchase moved to another store after its survey was"
    " sent, the survey counts at the new store.",
    f"There is no Net Promoter Score for fewer than {_MIN_ANSWERS} answers.",
)


def _cells(group: Group) -> list[str]:
    nps = group.nps
    return [
        f"{group.responses:,}",
        _decimal(group.mean),
        _score(group),
        _interval(nps) if nps and _is_enough(group) else _NOTHING,
    ]


def _interval(nps: Nps) -> str:
    return f"{_signed(nps.low)} to {_signed(nps.high)}"


def _count(group: Group) -> str:
    return f"{group.responses:,} response{'' if group.responses == 1 else 's'}"


def _over_time(breakdown: Breakdown, scope: Scope, figures: Figures) -> Section:
    first, last = (
        time.astimezone(figures.zone).date()
        for time in (scope.since, scope.until - timedelta(milliseconds=1))
    )
    groups = figures.groups_by(breakdown)
    shown = [(day, groups.get(day, Group())) for day in periods(breakdown, first, last)]
    label = _short_week if breakdown is Breakdown.WEEK else _short_month
    counts = [Bar(label(day), g.responses, f"{g.responses:,}") for day, g in shown]
    means = [
        Bar(label(day), g.mean, _NOTHING if g.mean is None else f"{g.mean:.1f}") for day, g in shown
    ]
    return Section(
        f"By {breakdown}",
        f"The first and the last {breakdown} can be incomplete.",
        [
            column_chart(f"Number of responses by {breakdown}", counts),
            column_chart(f"Mean rating by {breakdown}", means, highest=10),
        ],
        f"Responses, mean rating and Net Promoter Score by {breakdown}",
        [f"{breakdown.capitalize()} from", *_GROUP_COLUMNS],
        [[day, *_cells(group)] for day, group in shown],
    )


def _short_week(day: str) -> str:
    parsed = datetime.fromisoformat(day)
    return f"{parsed.day} {parsed:%b}"


def _short_month(day: str) -> str:
    return f"{datetime.fromisoformat(day):%b %y}"


def _store_names(scope: Scope) -> Callable[[str], str]:
    return lambda key: (scope.directory.name_of(key) or "deleted store") if key else "no store"


def _survey_names(scope: Scope) -> Callable[[str], str]:
    return lambda key: scope.survey_names.get(key, "deleted survey") if key else "contact forms"


_NAMES: Final[Mapping[Breakdown, Callable[[Scope], Callable[[str], str]]]] = {
    Breakdown.STORE: _store_names,
    Breakdown.SURVEY: _survey_names,
    Breakdown.LANGUAGE: lambda _scope: str,
}


def _comments(scope: Scope, figures: Figures) -> dict[str, list[dict[str, str]]]:
    return {
        band: [
            {"text": _shortened(comment.text), "note": _note(scope, figures, comment)}
            for comment in reversed(figures.comments[band])
        ]
        for band in BANDS
        if figures.comments.get(band)
    }


def _note(scope: Scope, figures: Figures, comment: Comment) -> str:
    store = scope.directory.name_of(comment.store_id or "")
    notes = (f"Rating {comment.rating}", _day(comment.created_at, figures), store)
    return ", ".join(filter(None, notes))


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_COMMENT else f"{text[: _MAX_COMMENT - 1]}…"
