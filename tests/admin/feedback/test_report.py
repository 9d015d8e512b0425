"""Tests of the figures of a report, and of the HTML file with the report's charts and tables."""

import random
import re
from collections import Counter
from datetime import date, timedelta
from html.parser import HTMLParser
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from admin.feedback.report import figures as figures_module
from admin.feedback.report.charts import Bar, column_chart, row_chart
from admin.feedback.report.figures import Details, Figures, Period, QuestionResult, selects
from admin.feedback.report.page import Scope, render_report
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.feedback.daily import DailyGroup, group_of, numbers_of
from chalicelib.domain.feedback.feedback import Feedback, FeedbackState, FormKind
from chalicelib.domain.feedback.filter import FeedbackFilter
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.ids import derived_id
from tests.domain.feedback.factories import NOW, answer, build_feedback

BRAND = derived_id("brand", "Lumen")
STORES = {derived_id("store", name): name for name in ("Lyon <Bellecour>", "Nice", "Paris")}
LYON, NICE, PARIS = STORES
DIRECTORY = Directory.of(
    [
        Place(id=BRAND, kind=PlaceKind.BRAND, name="Lumen"),
        *(
            Place(id=store, kind=PlaceKind.STORE, name=name, brand_id=BRAND)
            for store, name in STORES.items()
        ),
    ]
)
SURVEY = derived_id("survey", "After the visit")
PERIOD = Period(date(2026, 8, 31), date(2026, 11, 22))
SCOPE = Scope(
    "Maison & Lumen",
    PERIOD,
    ZoneInfo("Europe/Paris"),
    "",
    DIRECTORY,
    {(FormKind.SURVEY, SURVEY): "After <the> visit"},
)
QUESTION = (SURVEY, derived_id("field", "best"))


def rated(rating: int | None, **overrides: Any) -> Feedback:
    answers = [] if rating is None else [answer("nps", str(rating), kind="NPS")]
    for key, kind in (("why", "LONG_TEXT"), ("best", "MULTI_SELECT")):
        if value := overrides.pop(key, None):
            answers.append(answer(key, *([value] if isinstance(value, str) else value), kind=kind))
    places = {"brand_id": BRAND, "store_id": LYON, "kind": FormKind.SURVEY, "form_id": SURVEY}
    return build_feedback(*answers, rating=rating, **{**places, **overrides})


def figures(*records: Feedback, sent: int = 0, answered: int = 0) -> Figures:
    collected = Figures()
    for record in records:
        collected.add(group_of(record, "Europe/Paris"), numbers_of(record))
    surveys = DailyGroup("2026-11-20", FormKind.SURVEY, SURVEY, BRAND, LYON)
    if sent:
        collected.add(surveys, Counter(sent=sent, answered=answered))
    return collected


def details(*records: Feedback, wanted: FeedbackFilter | None = None) -> Details:
    options = {name: name for name in ("Food", "Room")}
    collected = Details({QUESTION: QuestionResult("After <the> visit", "Best?", options)})
    for record in records:
        stored = StoredFeedback(record, None, FeedbackState.DONE)
        collected.add(stored, wanted or FeedbackFilter())
    return collected


def html_of(*records: Feedback, before: Figures | None = None, **surveys: int) -> str:
    """Return a report in which all responses are also read for the details."""
    current = figures(*records, **surveys)
    return render_report(SCOPE, current, before or figures(), details(*records))


def page_text(html: str) -> str:
    body = html.partition("<body>")[2]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


class Page(HTMLParser):
    """Collect the tags and attributes of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def sample_report() -> str:
    """Return a report on a deterministic sample of two periods."""
    randomness = random.Random(7)
    quality = dict(zip(STORES, (8.6, 6.4, 7.7), strict=True))
    comments = ("The team was very friendly, thank you!", "We waited half an hour for the bill.")
    periods: tuple[list[Feedback], list[Feedback]] = ([], [])
    for number in range(900):
        store = randomness.choices(list(STORES), (5, 2, 3))[0]
        rating = max(0, min(10, round(randomness.gauss(quality[store], 2))))
        age = timedelta(days=randomness.uniform(0, 160))
        overrides = {"why": comments[rating < 7]} if number % 5 == 0 else {}
        record = rated(
            rating,
            store_id=store,
            created_at=NOW - age,
            best=randomness.choice((["Food"], ["Food", "Room"])),
            **overrides,
        )
        periods[age > timedelta(days=80)].append(record)
    return html_of(*periods[0], before=figures(*periods[1]), sent=900, answered=300)


# --- figures


def test_previous_period_has_same_number_of_days() -> None:
    assert PERIOD.previous == Period(date(2026, 6, 8), date(2026, 8, 30))


def test_weeks_of_period_start_on_monday_without_gaps() -> None:
    weeks = [*Period(date(2026, 10, 21), date(2026, 11, 2)).weeks()]
    assert weeks == [date(2026, 10, 19), date(2026, 10, 26), date(2026, 11, 2)]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (FeedbackFilter(), True),
        (FeedbackFilter(survey_id=SURVEY, store_id=LYON, brand_id=BRAND), True),
        (FeedbackFilter(form_id=SURVEY), False),
        (FeedbackFilter(survey_id=BRAND), False),
        (FeedbackFilter(store_id=NICE), False),
        (FeedbackFilter(brand_id=LYON), False),
    ],
)
def test_filters_select_numbers_and_responses(wanted: FeedbackFilter, expected: bool) -> None:
    assert selects(wanted, group_of(rated(9), "UTC")) is expected
    found = details(rated(9, best="Food"), wanted=wanted)
    assert found.questions[QUESTION].answers == int(expected)


def test_newest_comments_of_each_band_are_kept() -> None:
    records = [rated(9, why=f"A comment of enough length, number {n}") for n in range(6)]
    found = details(*records, rated(3, why="Too short"), rated(3, why="Long enough to be one"))
    high, low = found.comments.values()
    assert [comment.text[-1] for comment in high] == ["0", "1", "2", "3"]
    assert [comment.text for comment in low] == ["Long enough to be one"]


def test_responses_marked_as_test_have_no_details() -> None:
    collected = details()
    collected.add(
        StoredFeedback(rated(9, best="Food"), None, FeedbackState.DONE, is_test=True),
        FeedbackFilter(),
    )
    assert (collected.read, collected.questions[QUESTION].answers) == (1, 0)


# --- page


def test_report_shows_response_rate_in_total_by_store_and_by_form() -> None:
    text = page_text(html_of(rated(9), before=figures(sent=2, answered=2), sent=4, answered=1))
    assert "Response rate 25% 1 of 4 surveys sent; -75 points from the previous period" in text
    assert "Lyon &lt;Bellecour&gt; – – 1 9.00 4 25%" in text
    assert "After &lt;the&gt; visit – 1 9.00 4 25%" in text


def test_response_rate_is_not_known_if_nothing_was_sent() -> None:
    assert "Response rate not known no survey was sent" in page_text(html_of(rated(9)))


def test_report_loads_nothing_and_runs_no_script() -> None:
    html = sample_report()
    page = Page(html)
    assert not {"script", "link", "img", "iframe", "object", "a"} & set(page.tags)
    assert not {name for name, _ in page.attributes} & {"src", "href", "onload", "style"}
    assert "url(" not in html
    assert "@import" not in html
    assert "default-src 'none'" in html


def test_report_escapes_names_and_comments() -> None:
    html = html_of(rated(3, why="<script>alert('a long comment')</script>"))
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "Maison &amp; Lumen" in html
    assert "Lyon &lt;Bellecour&gt;" in html


def test_each_chart_has_name_text_and_table() -> None:
    page = Page(sample_report())
    # Score, ratings, two by week, stores, one question; forms have only a table.
    assert page.tags.count("svg") == 6
    assert page.tags.count("table") == 6
    roles = sorted(str(value) for name, value in page.attributes if name == "role")
    assert roles == ["img"] * 6 + ["region"] * 6


def test_changes_compare_with_previous_period() -> None:
    text = page_text(html_of(*[rated(9), rated(10)] * 5, before=figures(*[rated(4)] * 10)))
    assert "Lyon &lt;Bellecour&gt; +100 +200 10 9.50 " in text
    assert "+0% from 10" in text
    assert "+5.50 from the previous period" in text


@pytest.mark.parametrize(("answers", "score"), [(9, "–"), (10, "+100")])
def test_score_needs_ten_answers(answers: int, score: str) -> None:
    text = page_text(html_of(*[rated(9)] * answers))
    assert f"Net Promoter Score {score} " in text
    assert ("Score – fewer than 10 answers" in text) == (answers < 10)
    assert f"Lyon &lt;Bellecour&gt; {score} – {answers} 9.00 " in text


def test_stores_are_sorted_by_score_and_stores_without_score_come_last() -> None:
    records = [rated(3, store_id=LYON)] * 10 + [rated(9, store_id=PARIS)] * 10
    text = page_text(html_of(*records, rated(10, store_id=NICE)))
    table = text[text.index("response rate by store") :]
    assert table.index("Paris +100") < table.index("Lyon &lt;Bellecour&gt; -100")
    assert table.index("Lyon") < table.index("Nice –")


def test_question_shows_share_of_responses_by_option() -> None:
    text = page_text(
        html_of(rated(9, best="Food"), rated(9, best=["Food", "Room"]), rated(8, best="Removed"))
    )
    assert "After &lt;the&gt; visit. Answers: 3." in text
    assert "Food 2 66.7% Room 1 33.3% Removed 1 33.3%" in text


@pytest.mark.parametrize(("read", "is_limited"), [(2, False), (3, True)])
def test_report_says_from_how_many_responses_details_are(
    monkeypatch: pytest.MonkeyPatch, read: int, is_limited: bool
) -> None:
    monkeypatch.setattr("admin.feedback.report.page.MAX_READ", 3)
    assert figures_module.MAX_READ == 10_000
    assert ("from the newest 3 responses" in page_text(html_of(*[rated(9)] * read))) == is_limited


def test_report_is_written_for_period_without_responses() -> None:
    text = page_text(html_of())
    assert "There are no comments." in text
    assert "none in the previous period" in text


# --- charts


def test_charts_have_width_of_a_phone_and_draw_gaps() -> None:
    bars = [Bar(f"bar {n}", None if n == 1 else n - 20, f"{n}") for n in range(40)]
    columns = column_chart("Columns", bars, highest=20, lowest=-20)
    assert 'viewBox="0 0 360 ' in columns
    assert columns.count("<rect") == 40
    assert columns.count('class="label"') == columns.count('class="value"') == 10
    rows = row_chart("Rows", [("n" * 40, "1", [Bar("one", 0.25, "1"), Bar("two", 0.75, "3")])])
    assert 'viewBox="0 0 360 ' in rows
    assert (rows.count("…"), rows.count("<rect")) == (1, 3)
    assert column_chart("Empty", [])


def test_each_rating_has_a_label() -> None:
    chart = column_chart("Ratings", [Bar(str(rating), 1, "1") for rating in range(11)])
    assert chart.count('class="label"') == 11
