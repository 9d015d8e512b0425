"""Check the statistics of an account against its feedback and its surveys."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from admin.services.recount.difference import Difference
from admin.storage import statistics as records
from chalicelib.concurrency import map_concurrently
from chalicelib.domain.feedback.daily import NAMES, SENT, DailyGroup, Numbers, day_of, group_of
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.solicitation.solicitation import Solicitation
from chalicelib.services.accounts.directory import current_directory
from chalicelib.services.accounts.settings import current_settings
from chalicelib.storage.statistics import load_pages, sent_key

MAX_CONCURRENCY: Final = 8


class StatisticsCheck:
    """The statistics of an account at the start of the check, and those of its records.

    Feedback and surveys that an earlier release counted have no group. With ``fix``, they get one:
    feedback by its creation time, surveys by the current store of their purchase.

    AWS requests: three, one per MB of statistics, one per MB of solicitations, one per 100 surveys
    and per 100 feedback records, and one or two per record that gets a group.
    """

    def __init__(self, account_id: str, *, fix: bool) -> None:
        self._account_id, self._fix = account_id, fix
        self._stored = {key: numbers for page in load_pages(account_id) for key, numbers in page}
        self._expected: dict[str, Numbers] = defaultdict(Numbers)
        self._time_zone = current_settings(account_id).time_zone
        self._directory = current_directory(account_id)

    def add_surveys(self) -> None:
        """Add the surveys that were sent, or may have been sent."""
        for group in records.sent_surveys(self._account_id):
            for solicitation, store_id in group:
                key = solicitation.counted_as or self._assign_survey(solicitation, store_id)
                if key:
                    self._expected[sent_key(key, solicitation.id)][SENT] += 1

    def _assign_survey(self, solicitation: Solicitation, store_id: str) -> str | None:
        """Return the group of a survey of an earlier release; None if the survey has changed."""
        at = solicitation.sent_at or solicitation.processed_at or solicitation.created_at
        store = self._directory.store(store_id)
        key = DailyGroup(
            day_of(at, self._time_zone),
            FormKind.SURVEY,
            solicitation.survey_id or "",
            store.brand_id if store else None,
            store_id,
        ).key
        return key if not self._fix or records.assign_survey(solicitation, key) else None

    def add_feedback(self, counted: Sequence[StoredFeedback]) -> None:
        """Add up to 100 feedback records that count."""
        new = [stored for stored in counted if stored.counted_as is None]
        answered = records.groups_of_trackers([stored.feedback.tracker_id for stored in new])
        grouped = [
            replace(
                stored,
                counted_as=group_of(stored.feedback, self._time_zone).key,
                answered_as=answered.get(stored.feedback.tracker_id or ""),
            )
            for stored in new
        ]
        if self._fix:
            is_assigned = map_concurrently(records.assign_feedback, grouped, MAX_CONCURRENCY)
            grouped = [each for each, done in zip(grouped, is_assigned, strict=True) if done]
        for stored in (*counted, *grouped):
            for key, numbers in stored.numbers.items():
                self._expected[key].update(numbers)

    def differences(self) -> Iterator[Difference]:
        """Yield one difference for each wrong row. Call this function last."""
        wrong = [
            (key, self._stored.get(key, Numbers()), self._expected[key])
            for key in sorted(self._stored.keys() | self._expected)
            if self._stored.get(key, Numbers()) != self._expected[key]
        ]
        correct = partial(records.correct, self._account_id)
        repaired = (
            map_concurrently(lambda row: correct(*row), wrong, MAX_CONCURRENCY)
            if self._fix
            else [False] * len(wrong)
        )
        for (key, before, after), is_repaired in zip(wrong, repaired, strict=True):
            name = next(name for name in NAMES if before[name] != after[name])
            yield Difference(f"statistics {key}", name, before[name], after[name], is_repaired)
