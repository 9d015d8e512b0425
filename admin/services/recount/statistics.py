"""Check the statistics of an account against its feedback and its surveys."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from admin.services.recount.difference import Difference
from admin.storage import statistics as records
from chalicelib.concurrency import map_concurrently
from chalicelib.domain.feedback.daily import NAMES, SENT, Numbers
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.storage.statistics import sent_key

MAX_CONCURRENCY: Final = 8


class StatisticsCheck:
    """The statistics of an account at the start of the check, and those of its records.

    AWS requests: one per MB of statistics, one per MB of solicitations, and one per 100 surveys.
    """

    def __init__(self, account_id: str, *, fix: bool) -> None:
        self._account_id, self._fix = account_id, fix
        self._stored = records.load(account_id)
        self._expected: dict[str, Numbers] = defaultdict(Numbers)

    def add_surveys(self) -> None:
        """Add the surveys that were sent, or may have been sent."""
        for solicitation_id, key in records.counted_surveys(self._account_id):
            self._expected[sent_key(key, solicitation_id)][SENT] += 1

    def add_feedback(self, counted: Iterable[StoredFeedback]) -> None:
        """Add feedback records that count."""
        for stored in counted:
            for key, numbers in stored.numbers.items():
                self._expected[key].update(numbers)

    def differences(self) -> Iterator[Difference]:
        """Yield one difference for each wrong row. Call this function last."""
        wrong = [
            (key, before, self._expected[key], revision)
            for key in sorted(self._stored.keys() | self._expected)
            for before, revision in [self._stored.get(key, (Numbers(), None))]
            if before != self._expected[key]
        ]
        correct = partial(records.correct, self._account_id)
        repaired = (
            map_concurrently(lambda row: correct(*row), wrong, MAX_CONCURRENCY)
            if self._fix
            else [False] * len(wrong)
        )
        for (key, before, after, _), is_repaired in zip(wrong, repaired, strict=True):
            name = next(name for name in NAMES if before[name] != after[name])
            yield Difference(f"statistics {key}", name, before[name], after[name], is_repaired)
