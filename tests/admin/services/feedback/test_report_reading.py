"""Tests of the responses from which a report takes shares of answers and comments."""

from collections import defaultdict
from datetime import date, timedelta

import pytest

from admin.domain.feedback_filter import FeedbackFilter
from admin.services.feedback.report import report as report_module
from admin.services.feedback.report.figures import Period
from admin.services.feedback.report.page import Report
from admin.services.feedback.report.report import build_report
from chalicelib.domain.feedback.daily import Numbers, group_of, numbers_of
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.work import WorkState
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.statistics import StatisticsRow
from tests.admin.command import new_account
from tests.admin.services.feedback.test_report import DIRECTORY, LYON, NICE, rated
from tests.domain.feedback.factories import NOW

pytestmark = pytest.mark.usefixtures("cloud")

TODAY = NOW.date()
PERIOD = Period(TODAY - timedelta(days=29), TODAY)
SMALL, BIG = LYON, NICE


def store(account: str, records: list[Feedback], *tests: Feedback) -> None:
    """Write processed feedback, tests among it, and the statistics that count it."""
    numbers: dict[str, Numbers] = defaultdict(Numbers)
    with FeedbackRow.batch_write() as batch:
        for record in (*records, *tests):
            key = group_of(record, "UTC").key
            row = FeedbackRow(
                record.id,
                account_id=account,
                form_id=record.form_id,
                document=record,
                created_at=record.created_at,
                state=WorkState.DONE.value,
                counted_as=key,
                is_test=record in tests or None,
            )
            batch.save(row)
            if record not in tests:
                numbers[key].update(numbers_of(record))
    for key, values in numbers.items():
        StatisticsRow(account, key, **dict(values)).save()


def records_of(account: str, place: str, ratings: list[int], days: int) -> list[Feedback]:
    """Return feedback of several days, each a minute older than the one before."""
    return [
        rated(
            value,
            account_id=account,
            store_id=place,
            why=f"{place} {days} {number}",
            created_at=NOW - timedelta(days=days, minutes=number),
        )
        for number, value in enumerate(ratings)
    ]


@pytest.fixture
def shops(cloud: None) -> str:
    """Return an account with a big store, and a small one that got worse."""
    account = new_account()
    small = records_of(account, SMALL, [1] * 12, 28), records_of(account, SMALL, [9] * 12, 58)
    big = records_of(account, BIG, [9] * 150, 2), records_of(account, BIG, [9] * 150, 40)
    test = rated(0, account_id=account, store_id=SMALL, created_at=NOW - timedelta(days=28))
    store(account, [each for part in (*small, *big) for each in part], test)
    return account


def report(account: str, period: Period = PERIOD, **wanted: str) -> Report:
    return build_report(account, FeedbackFilter(**wanted), period, None, lambda _: None)


def test_changed_store_keeps_its_responses_however_many_others_are_newer(
    shops: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_module, "MAX_READ", 40)
    built = report(shops)
    assert (built.details.read, built.details.total) == (40, 162)
    ((change, now, before),) = built.chapters
    assert (change.group[1], change.verdict) == (SMALL, "worse")
    assert (now.read, now.total, before.read, before.total) == (12, 12, 12, 12)
    assert [text.split()[-1] for text, _ in now.comments] == [str(n) for n in range(12)]


def test_report_reads_newest_responses_after_its_filter(
    shops: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_module, "MAX_READ", 5)
    monkeypatch.setattr(report_module, "require_selection", lambda *_: (None, DIRECTORY))
    of_big, of_small = report(shops, store_id=BIG), report(shops, store_id=SMALL)
    assert (of_big.details.read, of_big.details.total, of_big.chapters) == (5, 150, [])
    assert (of_small.details.read, of_small.details.total) == (5, 12)
    ((_, now, before),) = of_small.chapters
    assert (now.read, before.read) == (5, 5)


def test_changed_stores_share_the_responses_that_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(report_module, "MAX_READ", 16)
    account = new_account()
    records = []
    for place in (SMALL, BIG):
        records += records_of(account, place, [1] * 12, 3) + records_of(
            account, place, [9] * 12, 33
        )
    store(account, records)
    built = report(account)
    assert [(now.read, before.read) for _, now, before in built.chapters] == [(8, 8)] * 2
    assert built.details.read == 16


def test_period_ends_with_its_last_day(shops: str) -> None:
    day = TODAY - timedelta(days=28)
    assert report(shops, Period(day, day)).details.read == 12
    assert report(shops, Period(date(2026, 1, 1), date(2026, 1, 2))).details.read == 0
