"""Tests of sending messages to queues: requests, order and failures."""

from collections.abc import Sequence
from threading import Barrier
from typing import Any

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.domain.feedback.feedback import FeedbackPointer
from chalicelib.domain.ids import new_id
from chalicelib.outbound import queues
from chalicelib.outbound.queues import send
from chalicelib.queues import FEEDBACK, IMPORTS, Queue
from tests.aws.faults import InjectedFault, inject_fault


def pointers(count: int) -> list[FeedbackPointer]:
    return [FeedbackPointer("account", new_id()) for _ in range(count)]


@pytest.mark.parametrize("queue", [FEEDBACK, IMPORTS])
@pytest.mark.parametrize(("count", "requests"), [(0, 0), (10, 1), (11, 2), (95, 10)])
def test_messages_are_sent_in_batches_of_ten(
    account: str, queue: Queue, count: int, requests: int
) -> None:
    with counted_calls() as calls:
        assert send(queue, pointers(count)) == count
    assert calls["sqs.SendMessageBatch"] == requests


@pytest.mark.parametrize("queue", [FEEDBACK, IMPORTS])
def test_no_more_messages_are_sent_after_failed_first_request(account: str, queue: Queue) -> None:
    with inject_fault(0, InjectedFault.TIMEOUT) as requests:
        assert send(queue, pointers(60)) == 0
    assert requests.operations == ["SendMessageBatch"]


def test_requests_to_standard_queue_run_concurrently_after_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    together = Barrier(4)
    sent: list[Any] = []

    def send_batch(_: Queue, batch: Sequence[FeedbackPointer]) -> int:
        is_first = not sent
        sent.extend(batch)
        if not is_first:
            together.wait(timeout=10)
        return len(batch)

    monkeypatch.setattr(queues, "_send_batch", send_batch)
    expected = pointers(50)
    assert send(FEEDBACK, expected) == 50
    assert sent[:10] == expected[:10]


def test_messages_to_fifo_queue_are_sent_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []

    def send_batch(_: Queue, batch: Sequence[FeedbackPointer]) -> int:
        sent.extend(batch)
        return len(batch)

    monkeypatch.setattr(queues, "_send_batch", send_batch)
    expected = pointers(50)
    assert send(IMPORTS, expected) == 50
    assert sent == expected
