"""Tests of the figures of a report, and of the HTML file with the report's charts and tables."""

import random
import re
from datetime import date, datetime, timedelta
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

import pytest

from admin.feedback.report.charts import Bar, column_chart, row_chart
from admin.feedback.report.figures import Breakdown, Figures, Group, periods, previous_start
from admin.feedback.report.page import Scope, render_report
from admin.services.solicitation.sent_surveys import SentSurvey
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.feedback.feedback import Feedback, FeedbackState, FormKind
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.ids import derived_id
from tests.domain.feedback.factories import NOW, answer, build_feedback

PARIS = ZoneInfo("Europe/Paris")
STORES = {derived_id("store", name): name for name in ("Lyon <Bellecour>", "Nice", "Paris")}
DIRECTORY = Directory.of(
    [Place(id=place_id, kind=PlaceKind.STORE, name=name) for place_id, name in STORES.items()]
)
SURVEY = derived_id("survey", "After the visit")
SCOPE = Scope(
    "Maison & Lumen",
    NOW - timedelta(weeks=24),
    NOW - timedelta(weeks=12),
    NOW,
    None,
    DIRECTORY,
    {SURVEY: "After <the> visit"},
)


def rated(rating: int | None, **overrides: object) -> Feedback:
    answers = [] if rating is None else [answer("nps", str(rating), kind="NPS")]
    if comment := overrides.pop("comment", None):
        answers.append(answer("why", str(comment), kind="LONG_TEXT"))
    return build_feedback(*answers, rating=rating, **overrides)


def stored(record: Feedback, *, is_test: bool = False) -> StoredFeedback:
    return StoredFeedback(record, None, FeedbackState.DONE, is_test)


def figures(*records: Feedback, breakdowns: tuple[Breakdown, ...] = tuple(Breakdown)) -> Figures:
    collected = Figures(PARIS, breakdowns)
    for record in records:
        collected.add(stored(record))
    return collected


def group(*ratings: int | None) -> Group:
    collected = Group()
    for rating in ratings:
        collected.add(rated(rating))
    return collected


def test_net_promoter_score_is_promoters_minus_detractors_in_percent() -> None:
    nps = group(10, 9, 9, 8, 7, 6, 0, None).nps
    assert nps
    assert nps.answers == 7
    assert nps.score == pytest.approx(100 * (3 - 2) / 7)


def test_confidence_interval_contains_score_and_narrows_with_more_answers() -> None:
    few, many = group(*[10, 9, 5, 8] * 2).nps, group(*[10, 9, 5, 8] * 200).nps
    assert few
    assert many
    for nps in (few, many):
        assert -100 <= nps.low < nps.score < nps.high <= 100
    assert many.high - many.low < (few.high - few.low) / 5


@pytest.mark.parametrize(("rating", "score"), [(10, 100), (6, -100)])
def test_confidence_interval_contains_score_of_one_answer(rating: int, score: int) -> None:
    nps = group(rating).nps
    assert nps
    assert nps.low <= nps.score == score <= nps.high


def test_confidence_interval_of_known_sample_has_expected_limits() -> None:
    # 60 promoters, 20 passives and 20 detractors; adjusted by three answers.
    nps = group(*[10] * 60, *[7] * 20, *[3] * 20).nps
    assert nps
    assert (nps.score, round(nps.low, 1), round(nps.high, 1)) == (40, 23.4, 54.3)


def test_responses_without_ratings_have_no_mean_and_no_net_promoter_score() -> None:
    empty = group(None)
    assert (empty.responses, empty.mean, empty.nps) == (1, None, None)


def test_responses_marked_as_test_are_excluded() -> None:
    collected = figures(rated(9))
    collected.add(stored(rated(0, comment="A comment of a test response"), is_test=True))
    assert (collected.total.responses, collected.total.mean, collected.tests) == (1, 9, 1)
    assert collected.comments == {}


def test_weeks_start_on_monday_in_time_zone_of_report() -> None:
    late = NOW.replace(month=11, day=22, hour=23, minute=30)  # Monday in Paris
    collected = figures(rated(1), rated(2, created_at=late))
    assert set(collected.groups[Breakdown.WEEK]) == {"2026-11-16", "2026-11-23"}
    assert set(collected.groups[Breakdown.MONTH]) == {"2026-11-01"}


@pytest.mark.parametrize(
    ("since", "until", "previous"),
    [
        ("2026-10-19T00:00+02:00", "2026-10-26T00:00+01:00", "2026-10-12T00:00+02:00"),
        ("2026-10-26T00:00+01:00", "2026-11-02T00:00+01:00", "2026-10-19T00:00+02:00"),
        ("2026-03-23T00:00+01:00", "2026-03-30T00:00+02:00", "2026-03-16T00:00+01:00"),
        ("2026-11-20T10:00+01:00", "2026-11-20T12:30+01:00", "2026-11-20T07:30+01:00"),
        ("2026-10-25T02:50+02:00", "2026-10-25T02:10+01:00", "2026-10-25T02:30+02:00"),
        ("2026-03-29T03:10+02:00", "2026-03-29T03:40+02:00", "2026-03-29T01:40+01:00"),
    ],
)
def test_previous_period_has_same_length_on_local_clock(
    since: str, until: str, previous: str
) -> None:
    start, end, expected = map(datetime.fromisoformat, (since, until, previous))
    assert previous_start(start, end, PARIS) == expected


def test_change_that_rounds_to_zero_has_no_minus_sign() -> None:
    current, previous = group(*[9] * 999, 8), group(*[9] * 10)
    text = page_text(
        render_report(SCOPE, Figures(PARIS, (), current), Figures(PARIS, (), previous))
    )
    assert "; +0 from the previous period" in text
    assert "+0.00 from the previous period" in text


def test_periods_have_no_gaps() -> None:
    last = date(2026, 3, 31)
    assert list(periods(Breakdown.MONTH, date(2026, 1, 31), last)) == [
        "2026-01-01",
        "2026-02-01",
        "2026-03-01",
    ]
    assert len(list(periods(Breakdown.WEEK, date(2026, 1, 1), last))) == 14


def test_newest_comments_of_each_band_are_kept() -> None:
    collected = figures(*(rated(2, comment=f"Comment number {number:02}") for number in range(9)))
    (comments,) = collected.comments.values()
    assert [comment.text[-2:] for comment in comments] == ["05", "06", "07", "08"]


def test_short_texts_and_answers_to_text_fields_are_not_comments() -> None:
    record = build_feedback(
        answer("why", "Good.", kind="LONG_TEXT"),
        answer("name", "Zoé Martin of Lyon", kind="TEXT"),
        rating=9,
    )
    assert figures(record).comments == {}


def answered(**overrides: object) -> Feedback:
    """Return a response to the survey through a tracker."""
    survey = {"kind": FormKind.SURVEY, "form_id": SURVEY, "tracker_id": "t"}
    return rated(9, **(survey | overrides))


def sent(store_id: str | None = None, *, is_answered: bool = False) -> SentSurvey:
    return SentSurvey(SURVEY, store_id, NOW, is_answered)


def test_response_rate_is_share_of_sent_surveys_that_were_answered() -> None:
    lyon, nice, paris = STORES
    # Responses to surveys that were sent before the period, or to public links, do not count.
    collected = figures(*[answered(store_id=nice)] * 7, answered(tracker_id=None), rated(9))
    for store, is_answered in ((lyon, True), (lyon, False), (paris, False), (None, False)):
        collected.add_sent(sent(store, is_answered=is_answered))
    assert collected.total.response_rate == 1 / 4
    by_store = collected.groups_by(Breakdown.STORE)
    rates = {store: by_store[store].response_rate for store in (lyon, nice, paris, "")}
    assert rates == {lyon: 1 / 2, nice: None, paris: 0, "": 0}
    by_survey = collected.groups_by(Breakdown.SURVEY)
    assert (by_survey[SURVEY].response_rate, by_survey[""].response_rate) == (1 / 4, None)
    assert {group.sent for group in collected.groups_by(Breakdown.WEEK).values()} == {0}


def page_text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", html))


def test_report_shows_response_rate_in_total_by_store_and_by_survey() -> None:
    lyon, nice, _ = STORES
    current, previous = figures(answered(store_id=lyon)), figures(answered(store_id=lyon))
    for number, store in enumerate((lyon, lyon, lyon, nice)):
        current.add_sent(sent(store, is_answered=number == 0))
    previous.add_sent(sent(lyon, is_answered=True))
    text = page_text(render_report(SCOPE, current, previous))
    assert "Response rate 25% 1 of 4 surveys sent; -75 points from the previous period" in text
    assert "Lyon &lt;Bellecour&gt; 1 9.00 – – 3 33%" in text
    assert "Nice 0 – – – 1 0%" in text
    assert "After &lt;the&gt; visit 1 9.00 – – 4 25%" in text


def test_response_rate_is_not_known_if_nothing_was_sent() -> None:
    text = page_text(render_report(SCOPE, figures(answered(), rated(9)), figures()))
    assert "Response rate not known no survey was sent" in text
    assert "After &lt;the&gt; visit 1 9.00 – – 0 not known" in text
    assert "contact forms 1 9.00" in text


class Page(HTMLParser):
    """Collect the tags, attributes and texts of a page."""

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
    current, previous = Figures(PARIS, list(Breakdown)), Figures(PARIS, list(Breakdown))
    comments = ("The team was very friendly, thank you!", "We waited half an hour for the bill.")
    for number in range(900):
        store = randomness.choices(list(STORES), (5, 2, 3))[0]
        rating = max(0, min(10, round(randomness.gauss(quality[store], 2))))
        age = timedelta(days=randomness.uniform(0, 168))
        record = rated(
            rating,
            store_id=store,
            created_at=NOW - age,
            comment=comments[rating < 7] if number % 5 == 0 else None,
            **(
                {"kind": FormKind.SURVEY, "form_id": SURVEY, "tracker_id": "t"}
                if number % 3
                else {}
            ),
        )
        period = current if age < timedelta(weeks=12) else previous
        period.add(stored(record))
        for _ in range(randomness.choice((1, 2, 4))):
            period.add_sent(sent(store, is_answered=number % 3 == 0))
    return render_report(SCOPE, current, previous)


def test_report_loads_nothing_and_runs_no_script() -> None:
    html = sample_report()
    page = Page(html)
    assert not {"script", "link", "img", "iframe", "object", "a"} & set(page.tags)
    assert not {name for name, _ in page.attributes} & {"src", "href", "onload", "style"}
    assert "url(" not in html
    assert "@import" not in html
    assert "default-src 'none'" in html


def test_report_escapes_names_and_comments() -> None:
    hostile = rated(
        3, comment="<script>alert('a long comment')</script>", store_id=next(iter(STORES))
    )
    html = render_report(SCOPE, figures(hostile), figures())
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "Maison &amp; Lumen" in html
    assert "Lyon &lt;Bellecour&gt;" in html


def test_each_chart_has_name_text_and_table() -> None:
    html = sample_report()
    page = Page(html)
    assert page.tags.count("svg") == 1 + 2 * 2 + 3
    assert page.tags.count("table") == 6
    roles = sorted(str(value) for name, value in page.attributes if name == "role")
    assert roles == ["img"] * 8 + ["region"] * 6
    assert "Number of responses by rating" in html


def test_tables_contain_numbers_of_period_and_of_previous_period() -> None:
    store = next(iter(STORES))
    html = render_report(
        SCOPE,
        figures(*[rated(9, store_id=store), rated(10, store_id=store)] * 5),
        figures(rated(4, store_id=store)),
    )
    text = page_text(html)
    assert "Lyon &lt;Bellecour&gt; 10 9.50 +100 " in text
    assert "+900% from 1" in text
    assert "+5.50 from the previous period" in text


@pytest.mark.parametrize(("answers", "score"), [(9, "–"), (10, "+100")])
def test_score_needs_ten_answers(answers: int, score: str) -> None:
    store = next(iter(STORES))
    records = [rated(9, store_id=store)] * answers
    text = page_text(render_report(SCOPE, figures(*records), figures()))
    assert f"Net Promoter Score {score} " in text
    assert ("Score – fewer than 10 answers" in text) == (answers < 10)
    assert f"Lyon &lt;Bellecour&gt; {answers} 9.00 {score} " in text


def test_chart_of_ratings_fits_a_phone() -> None:
    chart = column_chart("Ratings", [Bar(str(rating), 1, "1") for rating in range(11)])
    assert 'viewBox="0 0 360 ' in chart
    assert 'class="narrow"' in chart
    assert 'class="narrow"' not in column_chart("Days", [Bar("1", 1, "1")] * 12)


def test_report_is_written_for_period_without_responses() -> None:
    html = render_report(SCOPE, figures(), figures())
    assert "There are no comments." in html
    assert "none in the previous period" in html


def test_charts_draw_gaps_and_many_bars() -> None:
    bars = [
        Bar(f"bar {number}", None if number == 1 else number, f"{number}") for number in range(40)
    ]
    columns = column_chart("Columns", bars)
    assert columns.count("<rect") == 40
    assert columns.count('class="label"') == 14
    assert row_chart("Rows", [Bar("n" * 40, 1, "1")]).count("…") == 1
    assert column_chart("Empty", [])
