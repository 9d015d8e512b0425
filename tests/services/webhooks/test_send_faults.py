"""Each AWS request of a webhook fails once, with each kind of fault. The execution succeeds once.

No request is sent after a recorded success, and a webhook that is sent twice is marked as a repeat.
"""

from datetime import timedelta

import pytest

from chalicelib.services.webhooks.deliveries import read_delivery
from chalicelib.services.work.kinds import FEEDBACK, WEBHOOKS
from chalicelib.services.work.sweep import sweep
from tests.services.faults import InjectedFault, Killed, faulty
from tests.services.feedback.test_process import answer_contact_form
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE, WEBHOOK_QUEUE
from tests.services.webhooks.delivering import Receiver, answered, executions_of
from tests.web.opened import Opened

pytestmark = pytest.mark.usefixtures("two_actions")

REQUESTS = [
    "BatchGetItem",  # the feedback
    "TransactWriteItems",  # its executions
    "TransactWriteItems",  # the completion flag
    "SendMessageBatch",
    "UpdateItem",  # the claim
    "TransactWriteItems",  # the outcome
    "UpdateItem",
    "TransactWriteItems",
]


def work(opened: Opened) -> None:
    """Process the feedback and deliver its webhooks, with redelivery."""
    FEEDBACK_QUEUE.deliver_all(opened.account_id)
    WEBHOOK_QUEUE.deliver_all(opened.account_id)


def finish(opened: Opened, time: Time) -> None:
    for _ in range(30):
        rows = executions_of(opened.account_id)
        if rows and all(row.due_at is None for row in rows):
            return
        time.ahead += timedelta(hours=1)
        sweep(FEEDBACK)
        sweep(WEBHOOKS)
        work(opened)
    raise AssertionError("the webhooks do not end")


def assert_sound(opened: Opened, receiver: Receiver) -> None:
    """Check that both executions succeed exactly once and that every repeat is marked."""
    rows = executions_of(opened.account_id)
    assert [row.state for row in rows] == ["SUCCEEDED"] * 2
    for row in rows:
        execution, attempts = read_delivery(row.execution_id)
        sent = [got for got in receiver.got if got.execution_id == row.execution_id]
        taken = [got for got in sent if got.status == 200]
        assert taken
        assert {got.body for got in sent} == {execution.body}
        if len(taken) > 1:
            assert execution.ambiguous or attempts[-1].repeat
            assert [each.repeat for each in attempts if each.status] == [True]
        assert [each.status for each in attempts][-1] == 200
        assert len([each for each in attempts if each.status == 200]) == 1


def test_webhook_makes_listed_requests(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_contact_form(opened)
    with faulty(monkeypatch) as requests:
        work(opened)
    assert requests.operations == REQUESTS


@pytest.mark.parametrize("fault", InjectedFault)
@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_single_fault_does_not_change_result(
    opened: Opened,
    receiver: Receiver,
    time: Time,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    fault: InjectedFault,
) -> None:
    answer_contact_form(opened)
    with faulty(monkeypatch, number, fault):
        work(opened)
    finish(opened, time)
    assert_sound(opened, receiver)
    sent = len(receiver.got)
    time.ahead += timedelta(days=1)
    sweep(WEBHOOKS)
    work(opened)
    assert len(receiver.got) == sent


def test_killed_attempt_is_repeated_once_and_marked(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    answer_contact_form(opened)
    receiver.answers = [Killed(), answered(200)]
    work(opened)
    finish(opened, time)
    rows = [read_delivery(row.execution_id) for row in executions_of(opened.account_id)]
    assert {execution.state for execution, _ in rows} == {"SUCCEEDED"}
    repeats = [[each.repeat for each in attempts] for _, attempts in rows]
    assert sorted(repeats, key=len) == [[False], [False, True]]


def test_concurrent_duplicate_message_is_sent_once(
    opened: Opened, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_contact_form(opened)
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(opened.account_id))
    messages = WEBHOOK_QUEUE.queued_messages(opened.account_id)
    real = receiver.post

    def post_while_it_comes_again(*args: object, **kwargs: object) -> object:
        monkeypatch.setattr("chalicelib.services.webhooks.send.post", real)
        assert WEBHOOK_QUEUE.deliver([messages[0]]) == []
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr("chalicelib.services.webhooks.send.post", post_while_it_comes_again)
    WEBHOOK_QUEUE.deliver([messages[0]])
    assert len(receiver.got) == 1
