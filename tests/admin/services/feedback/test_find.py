"""Test that feedback is found by account, period and other properties."""

from datetime import timedelta
from typing import Any

import pytest

from admin.domain.feedback_filter import FeedbackFilter
from admin.services.feedback import find
from admin.services.feedback.find import find_feedback
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.ids import new_id
from chalicelib.storage import feedback
from tests.domain.feedback.factories import NOW, build_feedback


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "MAX_CONCURRENCY", 2)


def store(account: str, count: int) -> list[Feedback]:
    """Store feedback records, a minute apart."""
    records = [
        build_feedback(account_id=account, created_at=NOW + timedelta(minutes=minute))
        for minute in range(count)
    ]
    for record in records:
        assert feedback.create(record, None)
    return records


def ids(account: str, wanted: FeedbackFilter, **options: Any) -> list[str]:
    return [record.feedback.id for record in find_feedback(account, wanted, **options)]


def test_feedback_is_found_in_creation_order(account: str) -> None:
    stored = [record.id for record in store(account, 3)]
    store(new_id(), 1)
    assert ids(account, FeedbackFilter()) == stored
    assert ids(account, FeedbackFilter(), newest_first=True) == stored[::-1]
    assert ids(account, FeedbackFilter(), newest_first=True, at_most=2) == stored[:0:-1]


def test_period_includes_its_start_and_excludes_its_end(account: str) -> None:
    stored = [record.id for record in store(account, 4)]
    minute = timedelta(minutes=1)
    assert ids(account, FeedbackFilter(since=NOW + minute)) == stored[1:]
    assert ids(account, FeedbackFilter(until=NOW + 3 * minute)) == stored[:3]
    assert ids(account, FeedbackFilter(since=NOW + minute, until=NOW + 2 * minute)) == stored[1:2]
    millisecond = timedelta(milliseconds=1)
    assert ids(account, FeedbackFilter(since=NOW + millisecond, until=NOW + minute)) == []


def test_search_continues_until_enough_records_match(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "_READ_AT_ONCE", 2)
    stored = store(account, 7)
    wanted = FeedbackFilter(form_id=stored[5].form_id)
    assert ids(account, wanted, at_most=1) == [stored[5].id]


def test_newest_records_are_found_with_two_aws_requests(account: str) -> None:
    store(account, 3)
    with counted_calls() as calls:
        ids(account, FeedbackFilter(), newest_first=True, at_most=2)
    assert dict(calls) == {"dynamodb.Query": 1, "dynamodb.BatchGetItem": 1}


def test_complete_period_sends_one_request_per_group(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "_READ_AT_ONCE", 2)
    store(account, 7)
    read: list[int] = []
    with counted_calls() as calls:
        ids(account, FeedbackFilter(), on_read=read.append)
    assert dict(calls) == {"dynamodb.Query": 1, "dynamodb.BatchGetItem": 4}
    assert read == [2, 4, 1]
