"""Compare groups of feedback with the previous period, and tell clear changes from chance.

docs/decisions/report-charts.md describes the test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import comb, erfc, sqrt
from typing import Final

from chalicelib.domain.feedback.daily import FEEDBACK, RATINGS, Numbers, rating
from chalicelib.domain.feedback.statistics import average_rating, nps_of

_MIN_RATINGS: Final = 5
"""The number of ratings in both periods from which their means are compared."""

_MAX_EXACT: Final = 40
"""The number of answers in both periods above which the test is approximate."""

_LEVEL: Final = 0.05
"""The probability that chance alone makes a change of the list clear."""

Group = tuple[str | None, str | None]
"""A brand and a store, or a kind and a form."""


class Verdict(StrEnum):
    """The meaning of a change, in the order of the list."""

    WORSE = "worse"
    BETTER = "better"
    GONE = "gone"
    NEW = "new"
    CHANCE = "chance"
    FEW = "few"

    @property
    def is_open(self) -> bool:
        """Whether the change may be chance, or there are too few answers."""
        return self in (Verdict.CHANCE, Verdict.FEW)


@dataclass(frozen=True)
class Change:
    """The change of a group since the previous period.

    Attributes:
        is_score: whether Net Promoter Scores are compared; otherwise mean ratings.
        values: the scores or the mean ratings, now and before.
        answers: the number of their answers; of responses, if there are too few answers.
        p: the probability of such a change by chance; 1 if there are too few answers.
    """

    group: Group
    is_score: bool
    values: tuple[float | None, float | None]
    answers: tuple[int, int]
    p: float
    verdict: Verdict

    @property
    def difference(self) -> float:
        """The change of the value; 0 if it is not known."""
        now, before = self.values
        return 0 if now is None or before is None else now - before


def compare(now: Mapping[Group, Numbers], before: Mapping[Group, Numbers]) -> list[Change]:
    """Return the changes of all groups by verdict and size.

    Holm's correction limits the probability that chance makes one or more of them clear.
    """
    groups = dict.fromkeys((*now, *before))
    changes = [_change(g, now.get(g, Numbers()), before.get(g, Numbers())) for g in groups]
    tested = sorted(each.p for each in changes if each.verdict is Verdict.CHANCE)
    limit = next((p for n, p in enumerate(tested) if p * (len(tested) - n) > _LEVEL), 1)
    return sorted((_decided(each) if each.p < limit else each for each in changes), key=_rank)


def _change(group: Group, now: Numbers, before: Numbers) -> Change:
    """Return a change that may be chance."""
    scores = nps_of(now), nps_of(before)
    counts = [[each.detractors, each.passives, each.promoters] for each in scores]
    values = scores[0].score, scores[1].score
    is_score = None not in values
    if not is_score:
        counts = [[numbers[rating(each)] for each in RATINGS] for numbers in (now, before)]
        values = average_rating(now), average_rating(before)
    answers = sum(counts[0]), sum(counts[1])
    if min(answers) >= _MIN_RATINGS:
        return Change(group, is_score, values, answers, difference_test(*counts), Verdict.CHANCE)
    answers, verdict = (now[FEEDBACK], before[FEEDBACK]), Verdict.FEW
    if max(answers) >= _MIN_RATINGS and not min(answers):
        verdict = Verdict.NEW if answers[0] else Verdict.GONE
    return Change(group, is_score, (None, None), answers, 1, verdict)


def _decided(change: Change) -> Change:
    return replace(change, verdict=Verdict.WORSE if change.difference < 0 else Verdict.BETTER)


def _rank(change: Change) -> tuple[int, float, int]:
    """Return the position in the list: by verdict, from worse to better, the clearly best first."""
    share = change.difference / (200 if change.is_score else 10)
    sign = -1 if change.verdict is Verdict.BETTER else 1
    return [*Verdict].index(change.verdict), sign * share, -sum(change.answers)


def difference_test(first: Sequence[int], second: Sequence[int]) -> float:
    """Return the probability that a random division of all answers has such different means.

    The test is exact if one of the lists has few answers: it counts the selections of as many
    answers by their sum. An integer contains these counts, each in the same number of bits.

    Args:
        first, second: the number of answers with each value.
    """
    first, second = sorted((first, second), key=sum)
    size, counts = sum(first), [a + b for a, b in zip(first, second, strict=True)]
    everything, total = sum(counts), sum(value * n for value, n in enumerate(counts))
    observed = abs(everything * sum(value * n for value, n in enumerate(first)) - size * total)
    if size > _MAX_EXACT:
        squares = everything * sum(value**2 * n for value, n in enumerate(counts)) - total**2
        deviation = sqrt(squares * size * (everything - size) / (everything - 1))
        return erfc(observed / deviation / sqrt(2)) if observed else 1
    bits = comb(everything, size).bit_length()
    ways = [1] + [0] * size
    for value, n in enumerate(counts):
        for selected in range(size, 0, -1):
            ways[selected] += sum(
                ways[selected - k] * comb(n, k) << value * k * bits
                for k in range(1, min(n, selected) + 1)
            )
    as_different = sum(
        ways[size] >> bits * each & (1 << bits) - 1
        for each in range(size * len(counts))
        if abs(everything * each - size * total) >= observed
    )
    return as_different / comb(everything, size)
