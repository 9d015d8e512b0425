"""Tests of the Net Promoter Score, its confidence interval, and the means of statistics."""

from collections import Counter

import pytest

from chalicelib.domain.feedback.daily import nps
from chalicelib.domain.feedback.statistics import Nps, average_rating, nps_of, response_rate


def score(*answers: int) -> Nps:
    return nps_of(Counter(map(nps, answers)))


def test_net_promoter_score_is_promoters_minus_detractors_in_percent() -> None:
    found = score(10, 9, 9, 9, 8, 7, 6, 0, 0, 0, 1, 2)
    assert (found.promoters, found.passives, found.detractors) == (4, 2, 6)
    assert found.score == round(100 * (4 - 6) / 12, 1)


def test_confidence_interval_contains_score_and_narrows_with_more_answers() -> None:
    few, many = score(*[10, 9, 5, 8] * 3), score(*[10, 9, 5, 8] * 200)
    widths = []
    for found in (few, many):
        assert found.low is not None
        assert found.score is not None
        assert found.high is not None
        assert -100 <= found.low < found.score < found.high <= 100
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 5


@pytest.mark.parametrize(("answer", "expected"), [(10, 100), (6, -100)])
def test_confidence_interval_contains_score_of_equal_answers(answer: int, expected: int) -> None:
    found = score(*[answer] * 10)
    assert expected in (found.low, found.high)
    assert found.score == expected


def test_confidence_interval_of_known_sample_has_expected_limits() -> None:
    # 60 promoters, 20 passives and 20 detractors; adjusted by three answers.
    found = score(*[10] * 60, *[7] * 20, *[3] * 20)
    assert (found.score, found.low, found.high) == (40, 23.4, 54.3)


def test_numbers_without_ratings_and_surveys_have_no_mean_and_no_rate() -> None:
    assert average_rating(Counter(feedback=1)) is response_rate(Counter(feedback=1)) is None
    assert average_rating(Counter(r7=2, r8=1)) == 7.33
    assert response_rate(Counter(sent=3, answered=1)) == 0.3333
