"""Test that executions succeed exactly once if any one AWS request of a webhook delivery fails.

No webhook is sent after a recorded success. If a receiver may have received a webhook twice, the
second attempt is marked as a repeat.
"""

from datetime import timedelta

import pytest

from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.webhooks.deliveries import read_execution
from chalicelib.services.work.sweep import sweep
from tests.aws.faults import InjectedFault, Killed, inject_fault
from tests.services.feedback.submitting import answer_contact_form
from tests.services.kinds import FEEDBACK, WEBHOOKS
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE, WEBHOOK_QUEUE
from tests.services.webhooks.delivering import (
    Receiver,
    ReceivingAccount,
    executions_of,
    response_with,
)
from tests.web.seeded_account import SeededAccount

pytestmark = pytest.mark.usefixtures("two_actions")

REQUESTS = [
    "BatchGetItem",  # read the feedback
    "TransactWriteItems",  # create the executions of the feedback
    "BatchGetItem",  # the head of the partners' feed
    "TransactWriteItems",  # mark the feedback as done
    "SendMessageBatch",
    "UpdateItem",  # claim the execution
    "TransactWriteItems",  # record the outcome
    "UpdateItem",
    "TransactWriteItems",
]


def process_and_deliver(seeded: SeededAccount) -> None:
    """Process the account's feedback and deliver its webhooks. Redeliver failed messages."""
    FEEDBACK_QUEUE.deliver_all(seeded.account_id)
    WEBHOOK_QUEUE.deliver_all(seeded.account_id)


def finish(seeded: SeededAccount, time: Time) -> None:
    for _ in range(30):
        rows = executions_of(seeded.account_id)
        if rows and all(row.due_at is None for row in rows):
            return
        time.ahead += timedelta(hours=1)
        sweep(FEEDBACK)
        sweep(WEBHOOKS)
        process_and_deliver(seeded)
    raise AssertionError("The executions did not end.")


def assert_delivered_once(seeded: SeededAccount, receiver: Receiver) -> None:
    """Check that each of the two executions succeeds exactly once.

    If the receiver accepted a webhook twice, the second attempt must be marked as a repeat.
    """
    rows = executions_of(seeded.account_id)
    assert [row.state for row in rows] == ["SUCCEEDED"] * 2
    for row in rows:
        execution, attempts = read_execution(row.execution_id)
        sent = [
            request for request in receiver.requests if request.execution_id == row.execution_id
        ]
        accepted = [request for request in sent if request.status == 200]
        assert accepted
        assert {request.body for request in sent} == {execution.body}
        if len(accepted) > 1:
            assert execution.ambiguous or attempts[-1].repeat
            assert [attempt.repeat for attempt in attempts if attempt.status] == [True]
        assert [attempt.status for attempt in attempts][-1] == 200
        assert len([attempt for attempt in attempts if attempt.status == 200]) == 1


def test_webhook_delivery_sends_expected_aws_requests(seeded: ReceivingAccount) -> None:
    answer_contact_form(seeded)
    account_settings(seeded.account_id)  # cached
    with inject_fault() as requests:
        process_and_deliver(seeded)
    assert requests.operations == REQUESTS


@pytest.mark.parametrize("fault", InjectedFault)
@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_single_aws_fault_does_not_change_delivery_result(
    seeded: ReceivingAccount, number: int, fault: InjectedFault
) -> None:
    answer_contact_form(seeded)
    with inject_fault(number, fault):
        process_and_deliver(seeded)
    finish(seeded, seeded.time)
    assert_delivered_once(seeded, seeded.receiver)
    sent = len(seeded.receiver.requests)
    seeded.time.ahead += timedelta(days=1)
    sweep(WEBHOOKS)
    process_and_deliver(seeded)
    assert len(seeded.receiver.requests) == sent


def test_attempt_of_killed_function_is_repeated_once_and_marked_as_repeat(
    seeded: ReceivingAccount,
) -> None:
    answer_contact_form(seeded)
    seeded.receiver.responses = [Killed(), response_with(200)]
    process_and_deliver(seeded)
    finish(seeded, seeded.time)
    rows = [read_execution(row.execution_id) for row in executions_of(seeded.account_id)]
    assert {execution.state for execution, _ in rows} == {"SUCCEEDED"}
    repeats = [[attempt.repeat for attempt in attempts] for _, attempts in rows]
    assert sorted(repeats, key=len) == [[False], [False, True]]


def test_webhook_with_concurrent_duplicate_message_is_sent_once(
    seeded: ReceivingAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_contact_form(seeded)
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id))
    messages = WEBHOOK_QUEUE.queued_messages(seeded.account_id)
    real = seeded.receiver.post

    def post_during_redelivery(*args: object, **kwargs: object) -> object:
        monkeypatch.setattr("chalicelib.services.webhooks.send.post", real)
        assert WEBHOOK_QUEUE.deliver([messages[0]]) == []
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr("chalicelib.services.webhooks.send.post", post_during_redelivery)
    WEBHOOK_QUEUE.deliver([messages[0]])
    assert len(seeded.receiver.requests) == 1
