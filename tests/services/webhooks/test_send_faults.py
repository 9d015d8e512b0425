"""Every request of a webhook goes wrong once, in every way; the end is always one success.

Nothing is sent after a success that was recorded, and whatever is sent twice is marked as a repeat.
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
    "TransactWriteItems",  # the mark that all is done
    "SendMessageBatch",
    "UpdateItem",  # the claims
    "TransactWriteItems",  # and the outcomes
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
    """Two executions, each with one success at its end, and no repeat that is not marked."""
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


def test_the_requests_of_a_webhook_are_those_that_go_wrong_below(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_contact_form(opened)
    with faulty(monkeypatch) as requests:
        work(opened)
    assert requests.operations == REQUESTS


@pytest.mark.parametrize("fault", InjectedFault)
@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_one_fault_changes_nothing_in_the_end(
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


def test_killed_around_the_request_at_most_a_marked_repeat_follows(
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


def test_the_same_message_twice_at_once_is_one_request(
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
