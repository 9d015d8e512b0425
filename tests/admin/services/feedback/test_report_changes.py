"""Tests of the changes in a report, and of their reasons. The truth of each account is known."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.services.feedback.report.changes import Verdict, compare, difference_test
from admin.services.feedback.report.figures import Figures, Period
from admin.services.feedback.report.page import Report
from chalicelib.domain.feedback.daily import DailyGroup, Numbers, nps, rating
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.feedback.statistics import (
    GroupBy,
    Interval,
    StatisticsRequest,
    build_statistics,
)
from chalicelib.domain.ids import derived_id
from tests.admin.services.feedback.test_report import (
    BRAND,
    LYON,
    NICE,
    PARIS,
    PERIOD,
    SURVEY,
    figures,
    page_text,
    rated,
    report_of,
)


def answers(store: str, *ratings: int, **overrides: Any) -> list[Feedback]:
    return [rated(value, store_id=store, **overrides) for value in ratings]


def drawn(chance: Random, store: str, number: int) -> list[Feedback]:
    """Return answers whose distribution is the same in all stores and periods."""
    return answers(store, *chance.choices((3, 8, 10), (3, 6, 11), k=number))


def first_screen(report: Report) -> str:
    """Return the visible text before the first fold and before the total."""
    text = page_text(report.html()).partition("In total")[0]
    return text.partition("May be chance (")[0].partition("Too few answers (")[0]


def verdicts(report: Report) -> dict[str | None, Verdict]:
    return {change.group[1]: change.verdict for change in report.changes}


# --- the test of a difference


@pytest.mark.parametrize(
    ("first", "second"),
    [((1, 2, 9), (8, 9, 10)), ((0, 0, 5, 5), (5, 5, 10)), ((7, 7, 7), (7, 7)), ((1,), (2, 3, 9))],
)
def test_difference_test_counts_all_divisions(first: Sequence[int], second: Sequence[int]) -> None:
    pool = (*first, *second)
    observed = abs(sum(first) / len(first) - sum(second) / len(second))

    def differs(part: Sequence[int]) -> bool:
        rest = (sum(pool) - sum(part)) / (len(pool) - len(part))
        return abs(sum(part) / len(part) - rest) >= observed - 1e-9

    divisions = [*combinations(pool, len(first))]
    expected = sum(map(differs, divisions)) / len(divisions)
    counts = [[part.count(value) for value in range(11)] for part in (first, second)]
    assert difference_test(*counts) == pytest.approx(expected)
    assert difference_test(*reversed(counts)) == pytest.approx(expected)


def test_approximate_test_continues_the_exact_one() -> None:
    exact, approximate = (difference_test([n // 4, n - n // 4], [20, 20]) for n in (40, 41))
    both = difference_test([10, 31], [20, 21])
    assert exact == pytest.approx(approximate, abs=0.02)
    assert both == pytest.approx(approximate, abs=0.02)
    assert difference_test([0, 41], [0, 41]) == 1
    assert difference_test([41, 0], [0, 41]) < 1e-9


@pytest.mark.parametrize(
    ("scores", "others", "is_score", "verdict"),
    [
        (10, 0, True, Verdict.BETTER),
        (9, 0, False, Verdict.FEW),
        (9, 5, False, Verdict.BETTER),
        (0, 5, False, Verdict.BETTER),
        (0, 4, False, Verdict.FEW),
    ],
)
def test_scores_need_ten_answers_and_means_five_ratings(
    scores: int, others: int, is_score: bool, verdict: Verdict
) -> None:
    def numbers(value: int) -> Numbers:
        return Numbers({"feedback": scores + others, nps(value): scores, rating(value): others})

    (change,) = compare({(BRAND, LYON): numbers(10)}, {(BRAND, LYON): numbers(1)})
    assert (change.is_score, change.verdict) == (is_score, verdict)


def test_holm_correction_depends_on_the_number_of_listed_groups() -> None:
    now, before = answers(LYON, *[3] * 6, *[10] * 6), answers(LYON, *[10] * 12)
    same = [each for n in range(20) for each in answers(f"{n}", *[3, 10] * 8)]
    for others, expected in (([], Verdict.WORSE), (same, Verdict.CHANCE)):
        changes = compare(figures(*now, *others).stores, figures(*before, *others).stores)
        assert changes[0].verdict is expected


# --- accounts whose truth is known


def test_store_that_got_worse_is_named_with_its_reasons() -> None:
    chance = Random(1)
    before = [*drawn(chance, NICE, 60), *drawn(chance, PARIS, 60)]
    now = [*drawn(chance, NICE, 60), *drawn(chance, PARIS, 60)]
    before += answers(LYON, *[10] * 20, best="Room")
    now += answers(LYON, *[2] * 9, *[4] * 4, best="Food", why="Froid.")
    now += [rated(0, store_id=LYON, best="Food", why="!")]
    now += answers(LYON, 9, 9, best="Room", why="Très bien")
    text = first_screen(report_of(*now, before=before))
    assert "▼ Lyon &lt;Bellecour&gt; −175 Clearly worse · NPS −75 · Answers: 16" in text
    assert "Previous period: NPS +100 · Answers: 20" in text
    assert "From 16 of 900 responses" in text
    assert "Food 88% · Previous period: 0% Best?" in text
    assert "Comments ! Rating 0 · 20 Nov 2026 Froid. Rating 2 " in text
    assert "Comments (+7)" in text
    assert "Nice" not in text
    assert " Paris " not in text
    _, mail = report_of(*now, before=before).summary()
    assert "▼ Lyon <Bellecour> −175\nClearly worse · NPS −75 · Answers: 16\n" in mail
    assert "Best? Food 88% · Previous period: 0%\n\nMay be chance (2)\n\nIn total\n" in mail


def test_comments_on_better_store_start_with_high_ratings() -> None:
    now = answers(LYON, 7, 9, 10, *[10] * 12, why="Merci")
    report = report_of(*now, before=answers(LYON, *[1] * 15))
    ((row, _, _, comments),) = report.reasons()
    assert (row.sign, comments[0][1].rating) == ("▲", 10)
    assert len(comments) == 10


def test_change_by_two_answers_is_not_called_clear() -> None:
    steady = answers(PARIS, *[9, 10, 8, 3] * 6)
    report = report_of(
        *steady,
        *answers(LYON, *[10] * 8, 7, 8, 3, 4),
        before=[*steady, *answers(LYON, *[10] * 6, 7, 8, 8, 3, 4, 4)],
    )
    assert verdicts(report)[LYON] is Verdict.CHANCE
    assert "Nothing changed clearly." in first_screen(report)
    assert "Lyon" not in first_screen(report)


def test_new_and_closed_stores_are_named_as_such() -> None:
    report = report_of(*answers(LYON, 9, 9, 9, 9, 3), before=answers(NICE, 9, 9, 9, 9, 3))
    text = first_screen(report)
    assert "• Lyon &lt;Bellecour&gt; New · Answers: 5 Previous period: Answers: 0" in text
    assert "• Nice No more answers · Answers: 0 Previous period: Answers: 5" in text
    few = report_of(*answers(LYON, 9, 9, 9, 9), before=answers(NICE, 9, 9, 9, 9))
    assert set(verdicts(few).values()) == {Verdict.FEW}


def test_hundred_stores_without_change_give_no_false_alarm() -> None:
    alarms = 0
    for seed in range(8):
        chance = Random(seed)
        now, before = (
            figures(*(each for store in range(100) for each in drawn(chance, f"{store}", 12)))
            for _ in range(2)
        )
        alarms += compare(now.stores, before.stores)[0].verdict is not Verdict.CHANCE
    assert alarms <= 1  # with a probability of 5% in each account


def test_paradox_of_simpson_is_explained() -> None:
    before = [*answers(LYON, *[10] * 170, *[2] * 30), *answers(NICE, *[10] * 4, *[2] * 36)]
    now = [*answers(LYON, *[10] * 40), *answers(NICE, *[10] * 70, *[2] * 130)]
    report = report_of(*now, before=before)
    assert verdicts(report) == {LYON: Verdict.BETTER, NICE: Verdict.BETTER}
    assert "The total moved the other way" in first_screen(report)
    assert "NPS −8 Clearly worse −53" in page_text(report.html())
    with_more = report_of(*now, *answers(LYON, *[10] * 300), before=before)
    assert "The total moved the other way" not in first_screen(with_more)


def test_total_that_changed_by_chance_is_no_paradox() -> None:
    before = [*answers(PARIS, *[10] * 300, *[8] * 300), *answers(LYON, *[10] * 12)]
    now = [*answers(PARIS, *[10] * 325, *[8] * 275), *answers(LYON, *[7] * 12)]
    report = report_of(*now, before=before)
    assert verdicts(report) == {LYON: Verdict.WORSE, PARIS: Verdict.CHANCE}
    assert "NPS +53 May be chance +2" in page_text(report.html())
    assert "The total moved the other way" not in first_screen(report)


def test_stores_without_name_have_one() -> None:
    unknown = derived_id("store", "unknown")
    report = report_of(rated(9, store_id=None), rated(9, store_id=unknown))
    names = {row.name for row in report.rows()}
    assert names == {"Lumen · No particular place", "Deleted"}


# --- every figure equals the statistics


days = st.integers(-20, 83)
groups = st.builds(
    DailyGroup,
    days.map(lambda n: (PERIOD.first + timedelta(n)).isoformat()),
    st.just(FormKind.SURVEY),
    st.sampled_from([SURVEY, BRAND]),
    st.just(BRAND),
    st.sampled_from([LYON, NICE, None]),
)
counted = st.builds(
    lambda values, scores, sent: Numbers(
        [*(rating(v) for v in values), *(nps(v) for v in scores)]
        + ["feedback"] * len(values)
        + ["sent"] * sent
        + ["answered"] * min(sent, len(values))
    ),
    st.lists(st.integers(0, 10), max_size=12),
    st.lists(st.integers(0, 10), max_size=12),
    st.integers(0, 3),
)


@given(rows=st.lists(st.tuples(groups, counted), max_size=12))
def test_every_figure_equals_the_statistics(rows: list[tuple[DailyGroup, Numbers]]) -> None:
    now, before = Figures(), Figures()
    for group, numbers in rows:
        (now if group.day >= PERIOD.first.isoformat() else before).add(group, numbers)
    report = replace(
        report_of(), now=now, before=before, changes=compare(now.stores, before.stores)
    )
    words = report.words

    def items(period: Period, *by: GroupBy, interval: Interval = Interval.NONE) -> Any:
        request = StatisticsRequest.model_validate(
            {
                "since": period.first.isoformat(),
                "until": period.last.isoformat(),
                "groupBy": list(by),
                "interval": interval,
            }
        )
        counted = [
            row for row in rows if period.first <= date.fromisoformat(row[0].day) <= period.last
        ]
        return build_statistics(request, counted).items

    (total,) = items(PERIOD)
    tiles = {title: value for title, value, _ in report.tiles()}
    expected = {
        "Responses": words.number(total.feedback_count),
        "Response rate": words.percent(total.response_rate),
        "Mean rating": f"{words.decimal(total.average_rating)} / 10",
        "NPS": words.signed(total.nps.score),
    }
    assert tiles == {title: expected[title] for title in tiles}
    sections = {section.title: section for section in report.sections()}
    if ratings := sections.get("Ratings"):
        assert [row[1] for row in ratings.rows] == [words.number(n) for n in total.rating_counts]
    weeks = items(PERIOD, interval=Interval.WEEK) if total.feedback_count else []
    shown_weeks = sections["Weeks"].rows if weeks else []
    assert [row[1:] for row in shown_weeks] == [
        [
            words.number(each.feedback_count),
            words.decimal(each.average_rating),
            words.signed(each.nps.score),
        ]
        for each in weeks
    ]
    for title, by in (("Stores", GroupBy.STORE), ("Forms", GroupBy.FORM)):
        if title in sections:
            shown = sorted(row[3] for row in sections[title].rows)
            found = items(PERIOD, by)
            assert shown == sorted(words.number(each.feedback_count) for each in found)
            assert sorted(row[1] for row in sections[title].rows) == sorted(
                words.signed(each.nps.score) for each in found
            )
    by_store = [
        {each.store_id: each for each in items(period, GroupBy.STORE)}
        for period in (PERIOD, PERIOD.previous)
    ]
    for change in report.changes:
        for value, of_period in zip(change.values, by_store, strict=True):
            item = of_period.get(change.group[1])
            figure = item and (item.nps.score if change.is_score else item.average_rating)
            assert value in (None, figure)
