"""Test that redelivered feedback is processed together, and that no record parks others."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.domain.errors import Unavailable
from chalicelib.queues import MAX_RECEIVES
from chalicelib.services.feedback import process
from chalicelib.services.work.sweep import sweep
from chalicelib.storage.feedback import FeedbackRow
from tests.aws.faults import Killed
from tests.services.feedback.submitting import answer_contact_form
from tests.services.kinds import FEEDBACK
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE
from tests.web.seeded_account import SeededAccount


@dataclass
class Transactions:
    """The transactions that process feedback.

    Attributes:
        groups: the ids of the records of each transaction, also of those that failed.
        error: the error with which a transaction fails.
        failing: the ids of the records whose transactions fail.
    """

    groups: list[set[str]] = field(default_factory=list)
    error: BaseException = field(default_factory=Killed)
    failing: set[str] = field(default_factory=set)


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> Transactions:
    recorded = Transactions()
    real = process._finish

    def finish(account_id: str, ids: Collection[str], *args: Any) -> Any:
        recorded.groups.append(set(ids))
        if recorded.failing.intersection(ids):
            raise recorded.error
        return real(account_id, ids, *args)

    monkeypatch.setattr(process, "_finish", finish)
    return recorded


def deliver_until_visible_again(bodies: list[str], time: Time, receive_count: int) -> list[str]:
    """Deliver messages. Return those that are delivered again after the visibility time-out."""
    try:
        return FEEDBACK_QUEUE.deliver(bodies, receive_count)
    except Killed:
        return bodies
    finally:
        time.ahead += timedelta(minutes=6)


def submit(seeded: SeededAccount, number: int) -> list[str]:
    return [answer_contact_form(seeded, nps="9").id for _ in range(number)]


def messages(seeded: SeededAccount) -> list[str]:
    return FEEDBACK_QUEUE.queued_messages(seeded.account_id)


def rows(ids: Collection[str]) -> list[FeedbackRow]:
    return [FeedbackRow.get(feedback_id) for feedback_id in ids]


def test_redelivered_batch_takes_one_request_more_than_first_delivery(
    seeded: SeededAccount, transactions: Transactions
) -> None:
    requests = []
    for receive_count in (1, 1, 2, 3):
        ids = submit(seeded, process.MAX_BATCH_SIZE)
        with counted_calls() as calls:
            assert FEEDBACK_QUEUE.deliver(messages(seeded), receive_count) == []
        requests.append(calls.total())
        assert transactions.groups.pop() == set(ids)
        assert {row.started_at for row in rows(ids)} == {None}
    assert requests[2:] == [requests[1] + 1] * 2
    assert seeded.counts == (4 * process.MAX_BATCH_SIZE, 0, 0)


def test_feedback_that_kills_function_parks_no_neighbour(
    seeded: SeededAccount, time: Time, transactions: Transactions
) -> None:
    poisoned, *others = submit(seeded, 8)
    bodies = messages(seeded)
    transactions.failing = {poisoned}
    for receive_count in range(1, MAX_RECEIVES + 1):
        bodies = deliver_until_visible_again(bodies, time, receive_count)
    assert bodies == []
    (row,) = rows([poisoned])
    assert (row.state, row.claims) == ("PARKED", 8)
    assert {row.state for row in rows(others)} == {"DONE"}
    assert max(row.claims or 0 for row in rows(others)) <= 1
    together = [group for group in transactions.groups if len(group) > 1]
    assert together == [{poisoned, *others}] * 2


def test_started_feedback_is_processed_alone_also_if_it_is_requeued(
    seeded: SeededAccount, time: Time, transactions: Transactions
) -> None:
    poisoned, *started = submit(seeded, 3)
    bodies = messages(seeded)
    transactions.failing = {poisoned}
    for receive_count in (1, 2):
        deliver_until_visible_again(bodies, time, receive_count)
    assert all(row.started_at for row in rows([poisoned, *started]))
    transactions.groups.clear()
    new = submit(seeded, 3)
    sweep(FEEDBACK)
    deliver_until_visible_again(messages(seeded), time, 1)
    assert transactions.groups[0] == set(new)
    assert all(len(group) == 1 for group in transactions.groups[1:])
    assert {row.state for row in rows(new)} == {"DONE"}


@pytest.mark.parametrize("receive_count", [1, 2])
def test_failing_feedback_is_isolated_by_halving(
    seeded: SeededAccount, transactions: Transactions, receive_count: int
) -> None:
    failing, *others = submit(seeded, 16)
    transactions.failing, transactions.error = {failing}, ZeroDivisionError()
    assert FEEDBACK_QUEUE.deliver(messages(seeded), receive_count) == []
    assert sorted(map(len, transactions.groups)) == [1, 1, 2, 2, 4, 4, 8, 8, 16]
    assert {(row.state, row.claims) for row in rows(others)} == {("DONE", None)}
    (row,) = rows([failing])
    assert (row.state, row.claims, row.started_at) == ("PENDING", 1, None)


def test_batch_that_fails_for_lack_of_time_counts_no_failure(
    seeded: SeededAccount, time: Time, transactions: Transactions
) -> None:
    ids = submit(seeded, 4)
    bodies = messages(seeded)
    transactions.failing, transactions.error = set(ids), Unavailable("busy")

    class Context:
        def get_remaining_time_in_millis(self) -> float:
            return 10_000 if transactions.groups else 60_000

    for _ in range(3):
        transactions.groups.clear()
        assert len(FEEDBACK_QUEUE.deliver(bodies, 2, context=Context())) == 4
        assert {(row.claims, row.started_at) for row in rows(ids)} == {(None, None)}
        time.ahead += timedelta(minutes=6)
    transactions.failing = set()
    assert FEEDBACK_QUEUE.deliver(bodies, 2) == []
    assert transactions.groups[-1] == set(ids)
