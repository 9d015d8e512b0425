"""Tests of the figures of a report, and of the HTML file with the report's charts and tables."""

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from html.parser import HTMLParser
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from admin.domain.feedback_filter import FeedbackFilter
from admin.services.feedback.report.changes import compare
from admin.services.feedback.report.charts import Bar, column_chart
from admin.services.feedback.report.figures import Details, Figures, Period, QuestionResult
from admin.services.feedback.report.languages import LANGUAGES
from admin.services.feedback.report.page import Report, Scope
from admin.services.feedback.report.words import ReportWords
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.feedback.daily import DailyGroup, group_of, numbers_of
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.ids import derived_id
from chalicelib.domain.language import Language
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


def details(
    *records: Feedback, period: Period = PERIOD, store: str | None = None, total: int = 900
) -> Details:
    """Return details with the responses, newest first."""
    options = {name: name for name in ("Food", "Room")}
    questions = {QUESTION: QuestionResult("After <the> visit", "Best?", options)}
    group = (BRAND, store) if store else None
    collected = Details(period, group, total, 5_000, questions)
    for record in records:
        collected.add(record)
    return collected


def report_of(
    *records: Feedback,
    before: Sequence[Feedback] | Figures = (),
    language: str = "en",
    **surveys: int,
) -> Report:
    """Return a report in which all responses are also read for the details."""
    words, now = ReportWords(Language(language)), figures(*records, **surveys)
    earlier = before if isinstance(before, Figures) else figures(*before)
    changes = compare(now.stores, earlier.stores)
    chapters = [
        (
            change,
            details(*(r for r in records if r.store_id == store), store=store),
            details(*(r for r in old if r.store_id == store), period=PERIOD.previous, store=store),
        )
        for change in changes
        if change.verdict in ("worse", "better") and (store := change.group[1])
        for old in [() if isinstance(before, Figures) else before]
    ]
    return Report(words, SCOPE, now, earlier, details(*records), changes, chapters)


def html_of(*records: Feedback, **options: Any) -> str:
    return report_of(*records, **options).html()


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
    return html_of(*periods[0], before=periods[1], sent=900, answered=300)


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
    assert wanted.selects(group_of(rated(9), "UTC")) is expected
    assert wanted.selects(rated(9)) is expected


def test_details_need_responses_of_group_and_period_until_complete() -> None:
    def group(day: str, store: str = LYON) -> DailyGroup:
        return DailyGroup(day, FormKind.SURVEY, SURVEY, BRAND, store)

    of_lyon = details(store=LYON, total=1)
    assert of_lyon.needs(group("2026-08-31"))
    assert of_lyon.needs(group("2026-11-22"))
    assert not of_lyon.needs(group("2026-08-30"))
    assert not of_lyon.needs(group("2026-11-23"))
    assert not of_lyon.needs(group("2026-11-22", NICE))
    of_lyon.add(rated(9))
    assert not of_lyon.needs(group("2026-11-22"))


def test_newest_comments_of_each_band_are_shown() -> None:
    records = [rated(9, why=f"Good, number {n}") for n in range(6)]
    low, high = report_of(*records, rated(3, why="Non."), rated(3, why="ぬるい。")).comments()
    assert [text[-1] for text, *_ in high[1]] == ["0", "1", "2", "3"]
    assert [text for text, *_ in low[1]] == ["Non.", "ぬるい。"]


# --- page


def test_report_shows_response_rate_in_total_by_store_and_by_form() -> None:
    records = [rated(9), rated(8, store_id=NICE, form_id=PARIS)]
    text = page_text(html_of(*records, before=figures(sent=2, answered=2), sent=4, answered=1))
    assert "Response rate 25% Surveys sent: 4, answered: 1 Previous period: 100%" in text
    assert "Lyon &lt;Bellecour&gt; 1 9.00 4 25%" in text
    assert "After &lt;the&gt; visit 1 9.00 4 25%" in text


def test_figures_and_columns_without_values_are_left_out() -> None:
    text = page_text(html_of(rated(None), rated(None, store_id=NICE)))
    for title in ("Response rate", "Mean rating", "NPS", "Ratings", "Surveys sent", "Change"):
        assert title not in text
    assert "Stores Responses Lyon &lt;Bellecour&gt; 1 Nice 1" in text


def test_tables_that_repeat_a_chart_are_folded() -> None:
    html = html_of(rated(9), rated(8, store_id=NICE))
    folded = re.findall(r"<details><summary>([^<]*)</summary><div class=.scroll", html)
    assert folded == ["Responses · Share", "Responses · Mean rating"]
    assert html.count("<table>") == 3


@pytest.mark.parametrize(("stores", "folded"), [(12, 2), (13, 3)])
def test_long_tables_are_folded(stores: int, folded: int) -> None:
    html = html_of(*(rated(9, store_id=f"{number}") for number in range(stores)))
    assert len(re.findall("<details><summary>[^<]*</summary><div class=.scroll", html)) == folded


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


def test_each_section_has_charts_and_table() -> None:
    page = Page(sample_report())
    # Columns: ratings, two by week. Tables: ratings, weeks, stores.
    assert [page.tags.count(tag) for tag in ("figure", "table", "section")] == [3, 3, 8]
    roles = sorted(str(value) for name, value in page.attributes if name == "role")
    assert roles == ["group"] * 3 + ["img"] * 3


def test_report_has_language_and_direction_in_all_languages() -> None:
    english = ("Responses", "Previous period", "Passives", "Weeks", "Surveys sent", "not included")
    for language in LANGUAGES:
        html = html_of(rated(9), language=language, sent=1)
        assert f'<html lang="{language}"' in html
        assert ('dir="rtl"' in html) == (language in ("ar", "fa", "he"))
        shown = [text for text in english if text in page_text(html)]
        assert shown == ([*english] if language == "en" else [])


def test_report_has_formats_of_language() -> None:
    before = figures(*[rated(4)] * 1234)
    french = page_text(html_of(*[rated(9), rated(10)] * 5, before=before, language="fr"))
    assert "31 août – 22 nov. 2026 (Europe/Paris)" in french
    assert "Note moyenne 9,50 / 10 +5,50 · Période précédente : 4,00" in french
    assert "−99 % · Période précédente : 1 234" in french
    assert "Entre +48 et +100 avec 95 % de certitude" in french
    hebrew = page_text(html_of(*[rated(9)] * 10, language="he"))
    assert "NPS \u200e+100 " in hebrew


def test_changes_compare_with_previous_period() -> None:
    now = [*[rated(9), rated(10)] * 5, rated(8, store_id=NICE)]
    text = page_text(html_of(*now, before=figures(*[rated(4)] * 10)))
    assert "Lyon &lt;Bellecour&gt; +100 +200 10 9.50 " in text
    assert "Responses 11 +10% · Previous period: 10" in text
    assert "+5.36 · Previous period: 4.00" in text
    assert "Clearly better +191 · Previous period: −100 Between +42 and +100 with 95% cert" in text


@pytest.mark.parametrize(("answers", "score"), [(9, "–"), (10, "+100")])
def test_score_needs_ten_answers(answers: int, score: str) -> None:
    text = page_text(html_of(*[rated(9)] * answers, rated(None, store_id=NICE)))
    assert f"NPS {score} " in text
    note = "NPS – Previous period: – There is no score for fewer than 10 answers."
    assert (note in text) == (answers < 10)
    cells = f"{score} {answers} 9.00" if answers == 10 else f"{answers} 9.00"
    assert f"Lyon &lt;Bellecour&gt; {cells}" in text


def test_stores_are_sorted_by_score_and_stores_without_score_come_last() -> None:
    records = [rated(3, store_id=LYON)] * 10 + [rated(9, store_id=PARIS)] * 10
    text = page_text(html_of(*records, rated(10, store_id=NICE)))
    table = text[text.index("Stores NPS Responses") :]
    assert table.index("Paris +100") < table.index("Lyon &lt;Bellecour&gt; −100")
    assert table.index("Lyon") < table.index("Nice –")


def test_question_shows_share_of_responses_by_option() -> None:
    text = page_text(
        html_of(rated(9, best="Food"), rated(9, best=["Food", "Room"]), rated(8, best="Removed"))
    )
    assert "After &lt;the&gt; visit Best? Answers: 3" in text
    assert "Food 2 (67%) Room 1 (33%) Removed 1 (33%)" in text


def test_report_says_from_how_many_responses_details_are() -> None:
    assert "From 2 of 900 responses" in page_text(html_of(rated(9), rated(9)))


def test_report_is_written_for_period_without_responses() -> None:
    text = page_text(html_of())
    assert "Nothing changed clearly. In total Responses 0 Previous period: 0" in text
    assert "Comments" not in text
    assert "Weeks" not in text


# --- charts


def test_charts_have_width_of_a_phone_and_draw_gaps() -> None:
    bars = [Bar(f"bar {n}", None if n == 1 else n - 20, f"{n}") for n in range(40)]
    columns = column_chart("Columns", bars, highest=20, lowest=-20)
    assert 'viewBox="0 0 360 ' in columns
    assert columns.count("<rect") == 40
    # A name has six letters, and a bar has the width of one letter and a quarter.
    assert columns.count('class="label"') == columns.count('class="value"') == 6
    assert column_chart("Empty", [])


def test_each_rating_has_a_label() -> None:
    chart = column_chart("Ratings", [Bar(str(rating), 1, "1") for rating in range(11)])
    assert chart.count('class="label"') == 11


def test_first_column_is_on_the_right_in_languages_from_right_to_left() -> None:
    bars = [Bar("first", 1, "1"), Bar("second", 1, "1")]
    for is_right_to_left in (False, True):
        chart = str(column_chart("Columns", bars, is_right_to_left=is_right_to_left))
        first, second = map(float, re.findall(r'<rect x="([0-9.]+)"', chart))
        assert (first > second) == is_right_to_left


def test_question_with_scale_has_columns_and_other_question_has_bars() -> None:
    found = details(rated(9, best="Food"))
    found.questions[SURVEY, derived_id("field", "nps")] = QuestionResult(
        "After <the> visit", "How likely?", {str(value): str(value) for value in range(11)}
    )
    found.add(rated(9))
    ((name, (best, scale)),) = replace(report_of(rated(9)), details=found).questions()
    assert name == "After <the> visit"
    assert (len(best.bars), len(best.charts)) == (2, 0)
    assert (len(scale.bars), len(scale.charts)) == (0, 1)
