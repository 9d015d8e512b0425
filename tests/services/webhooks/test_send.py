"""Webhooks: one for each feedback and action, tried as decided, never after a success."""

import json
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict
from chalicelib.domain.webhooks.execution import Attempt, ExecutionPointer, ExecutionState
from chalicelib.domain.webhooks.signature import verify
from chalicelib.outbound.webhook_http import WebhookResponse
from chalicelib.services.caching import clear_caches
from chalicelib.services.webhooks import send as service
from chalicelib.services.webhooks.deliveries import list_deliveries, read_delivery, replay_delivery
from chalicelib.services.webhooks.secret import rotate_webhook_secret
from chalicelib.services.work.kinds import WEBHOOKS
from chalicelib.services.work.parked import list_parked_work, replay
from chalicelib.services.work.sweep import sweep
from chalicelib.services.workflows.manage import save_workflow, set_workflow_enabled
from chalicelib.storage import executions, webhook_secrets
from tests.domain.workflows.factories import action_document, workflow_document
from tests.services.feedback import work as feedback_work
from tests.services.feedback.test_process import answer_contact_form, answer_survey
from tests.services.webhooks.delivering import (
    NO_CONNECTION,
    TIMED_OUT,
    Receiver,
    Time,
    answered,
    deliver,
    executions_of,
    pass_time,
    queued_messages,
    react,
    receiver,
    time,
)
from tests.web.opened import Opened, open_account

__all__ = ["receiver", "time"]

A_WHILE = timedelta(hours=7)


@pytest.fixture
def opened(account: str, time: Time, receiver: Receiver) -> Opened:
    return open_account()


def start(opened: Opened, **answers: str) -> list[str]:
    """Answers the contact form and works on it; answers the messages that follow."""
    answer_contact_form(opened, **answers)
    assert feedback_work.deliver(feedback_work.queued_messages(opened.account_id)) == []
    return queued_messages(opened.account_id)


def only(opened: Opened) -> tuple[ExecutionState, bool, list[Attempt]]:
    (row,) = executions_of(opened.account_id)
    execution, attempts = read_delivery(row.execution_id)
    return execution.state, execution.ambiguous, list(attempts)


def test_each_action_of_each_workflow_that_matches_is_sent_once(
    opened: Opened, receiver: Receiver
) -> None:
    react(opened.account_id, action_document(key="a"), action_document(key="b"))
    save_workflow(opened.account_id, workflow_document(name="Third"))
    unmatched = {"subject": "rating", "operator": "$gt", "value": "8"}
    save_workflow(opened.account_id, workflow_document(name="No", conditions=[unmatched]))
    messages = start(opened, nps="8")
    assert len(messages) == 3
    assert deliver([*messages, *messages]) == deliver(messages) == []
    assert len(receiver.got) == len({got.execution_id for got in receiver.got}) == 3
    assert {row.state for row in executions_of(opened.account_id)} == {"SUCCEEDED"}
    assert all(row.due_at is None and row.expires_at for row in executions_of(opened.account_id))


def test_what_is_sent_is_signed_and_system_headers_win(opened: Opened, receiver: Receiver) -> None:
    headers = {"user-agent": "x", "X-SERVICE-webhook-signature": "y", "x-own": "z"}
    react(opened.account_id, action_document(headers=headers, metadata={"k": "v"}))
    deliver(start(opened))
    (got,) = receiver.got
    secret = webhook_secrets.find_active(opened.account_id, clock.now())
    assert secret
    verify(
        secret,
        got.headers["X-Service-Webhook-Timestamp"],
        got.headers["X-Service-Webhook-Signature"],
        got.body,
        int(clock.now().timestamp()),
    )
    assert got.headers["User-Agent"] == "Service-Workflow-Webhook"
    assert sorted(name.lower() for name in got.headers) == [
        "content-type",
        "user-agent",
        "x-own",
        "x-service-webhook-id",
        "x-service-webhook-signature",
        "x-service-webhook-timestamp",
    ]
    assert json.loads(got.body)["metadata"] == {"k": "v"}


def test_an_attempt_costs_two_requests(opened: Opened) -> None:
    react(opened.account_id)
    first, second = start(opened), start(opened)
    deliver(first)
    with counted_calls() as calls:
        deliver(second)
    assert dict(calls) == {"dynamodb.UpdateItem": 1, "dynamodb.TransactWriteItems": 1}


def test_workflows_cost_a_batch_of_feedback_two_requests_more(opened: Opened) -> None:
    react(opened.account_id)
    start(opened)
    for _ in range(8):
        answer_survey(opened)
    messages = feedback_work.queued_messages(opened.account_id)
    with counted_calls() as calls:
        feedback_work.deliver(messages)
    assert calls["dynamodb.TransactWriteItems"] == 2
    assert calls["sqs.SendMessageBatch"] == 1
    assert calls.total() == 4
    assert len(queued_messages(opened.account_id)) == 8


@pytest.mark.parametrize("failure", [answered(500), answered(301), answered(404), NO_CONNECTION])
def test_a_failure_is_tried_again_with_the_same_body_and_a_fresh_signature(
    opened: Opened, receiver: Receiver, time: Time, failure: WebhookResponse
) -> None:
    react(opened.account_id)
    receiver.answers = [failure, answered(204)]
    messages = start(opened)
    deliver(messages)
    deliver(messages)  # stale: nothing before the wait is over
    assert len(receiver.got) == 1
    pass_time(opened.account_id, time, timedelta(seconds=50))
    assert len(receiver.got) == 1
    pass_time(opened.account_id, time, timedelta(seconds=30))
    first, second = receiver.got
    assert first.body == second.body
    assert (
        first.headers["X-Service-Webhook-Signature"]
        != second.headers["X-Service-Webhook-Signature"]
    )
    state, ambiguous, attempts = only(opened)
    assert (state, ambiguous) == ("SUCCEEDED", False)
    assert [(each.number, each.status, each.repeat) for each in attempts] == [
        (1, failure.status, False),
        (2, 204, False),
    ]
    pass_time(opened.account_id, time, A_WHILE)
    assert len(receiver.got) == 2


def test_attempts_end_after_about_a_day_and_an_operator_replays(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id)
    receiver.answers = [answered(500)]
    deliver(start(opened))
    for _ in range(12):
        pass_time(opened.account_id, time, A_WHILE)
    assert len(receiver.got) == 8
    assert only(opened)[0] == "FAILED"
    (failed,) = list_deliveries(opened.account_id, ExecutionState.FAILED, 10)
    assert list_deliveries(opened.account_id, ExecutionState.SUCCEEDED, 10) == []
    receiver.answers = [answered(500)] * 9 + [answered(200)]
    replay_delivery(failed.id)
    with pytest.raises(Conflict):
        replay_delivery(failed.id)
    deliver(queued_messages(opened.account_id))
    pass_time(opened.account_id, time, A_WHILE)
    state, _, attempts = only(opened)
    assert state == "SUCCEEDED"
    assert [each.number for each in attempts] == list(range(1, 11))
    with pytest.raises(Conflict):
        replay_delivery(failed.id)


def test_the_number_of_attempts_is_the_actions(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id, action_document(attempts=2))
    receiver.answers = [answered(500)]
    deliver(start(opened))
    for _ in range(4):
        pass_time(opened.account_id, time, A_WHILE)
    assert (len(receiver.got), only(opened)[0]) == (2, "FAILED")


def test_gone_stops_it(opened: Opened, receiver: Receiver, time: Time) -> None:
    react(opened.account_id)
    receiver.answers = [answered(410)]
    deliver(start(opened))
    pass_time(opened.account_id, time, A_WHILE)
    assert (len(receiver.got), only(opened)[0]) == (1, "STOPPED")


def test_retry_after_is_honoured(opened: Opened, receiver: Receiver, time: Time) -> None:
    react(opened.account_id)
    receiver.answers = [answered(429, retry_after="3600"), answered(200)]
    deliver(start(opened))
    pass_time(opened.account_id, time, timedelta(minutes=55))
    assert len(receiver.got) == 1
    pass_time(opened.account_id, time, timedelta(minutes=6))
    assert len(receiver.got) == 2


def test_a_time_out_after_sending_is_ambiguous_and_its_repeat_is_marked(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id)
    receiver.answers = [TIMED_OUT, answered(200)]
    deliver(start(opened))
    pass_time(opened.account_id, time, A_WHILE)
    state, ambiguous, attempts = only(opened)
    assert (state, ambiguous) == ("SUCCEEDED", True)
    assert [(each.ambiguous, each.repeat) for each in attempts] == [(True, False), (False, True)]


def test_with_one_attempt_an_ambiguous_one_is_not_repeated(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id, action_document(attempts=1))
    receiver.answers = [TIMED_OUT]
    deliver(start(opened))
    pass_time(opened.account_id, time, A_WHILE)
    state, ambiguous, attempts = only(opened)
    assert (state, ambiguous, len(attempts), len(receiver.got)) == ("FAILED", True, 1, 1)


def test_a_secret_made_between_attempts_signs_the_later_one(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id)
    receiver.answers = [answered(500), answered(500), answered(200)]
    old = webhook_secrets.find_active(opened.account_id, clock.now())
    cutover = clock.now() + timedelta(minutes=5)
    new = rotate_webhook_secret(opened.account_id, cutover).secret
    deliver(start(opened))
    pass_time(opened.account_id, time, timedelta(minutes=2))
    pass_time(opened.account_id, time, timedelta(hours=1))
    assert len(receiver.got) == 3
    for got, secret in zip(receiver.got, (old, old, new), strict=True):
        stamp = got.headers["X-Service-Webhook-Timestamp"]
        assert secret
        verify(secret, stamp, got.headers["X-Service-Webhook-Signature"], got.body, int(stamp))


def test_url_and_headers_are_the_present_ones(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    workflow = react(opened.account_id)
    receiver.answers = [answered(500), answered(200)]
    deliver(start(opened))
    changed = action_document(url="https://other.example.com/", metadata={"new": "yes"})
    save_workflow(opened.account_id, workflow_document(id=workflow.id, actions=[changed]))
    clear_caches()
    pass_time(opened.account_id, time, A_WHILE)
    first, second = receiver.got
    assert second.url == "https://other.example.com/"
    assert first.body == second.body


def test_a_disabled_workflow_sends_nothing_more(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    workflow = react(opened.account_id)
    receiver.answers = [answered(500)]
    deliver(start(opened))
    set_workflow_enabled(opened.account_id, workflow.id, enabled=False)
    clear_caches()
    pass_time(opened.account_id, time, A_WHILE)
    assert (only(opened)[0], len(receiver.got)) == ("STOPPED", 1)
    assert start(opened) == []


def test_a_silent_host_is_put_off_without_an_attempt_and_others_are_not(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id)
    receiver.answers = [TIMED_OUT]
    messages = [message for _ in range(5) for message in start(opened)]
    assert deliver(messages) == []
    assert len(receiver.got) == 3
    assert sorted(int(row.attempt) for row in executions_of(opened.account_id)) == [0, 0, 1, 1, 1]
    other = open_account()
    react(other.account_id, action_document(url="https://healthy.example.com/"))
    receiver.answers = [answered(200)]
    deliver(start(other))
    assert only(other)[0] == "SUCCEEDED"
    pass_time(opened.account_id, time, timedelta(minutes=3))
    assert {row.state for row in executions_of(opened.account_id)} == {"SUCCEEDED"}


def test_without_a_secret_nothing_is_sent_until_there_is_one(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    save_workflow(opened.account_id, workflow_document())
    deliver(start(opened))
    assert receiver.got == []
    rotate_webhook_secret(opened.account_id)
    pass_time(opened.account_id, time, A_WHILE)
    assert len(receiver.got) == 1


def test_one_that_always_kills_its_function_is_parked(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    class Killed(BaseException):
        pass

    react(opened.account_id)
    receiver.answers = [Killed()]
    messages = start(opened)
    for _ in range(8):
        with pytest.raises(Killed):
            deliver(messages)
        time.ahead += timedelta(minutes=5)
    assert deliver(messages) == []
    assert len(receiver.got) == 8
    (parked,) = (w for w in list_parked_work() if w.account_id == opened.account_id)
    assert (parked.kind, parked.claims) == ("webhook", 8)
    time.ahead += A_WHILE
    sweep(WEBHOOKS)
    assert queued_messages(opened.account_id) == []
    receiver.answers = [answered(200)]
    replay(parked.owner_id, parked.part)
    deliver(queued_messages(opened.account_id))
    state, ambiguous, attempts = only(opened)
    assert (state, ambiguous, attempts[-1].repeat) == ("SUCCEEDED", True, True)
    assert [each.ambiguous for each in attempts] == [True] * 8 + [False]


def test_one_that_cannot_be_claimed_is_parked_and_keeps_no_other_waiting(
    opened: Opened, receiver: Receiver, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    react(opened.account_id)
    (poison,), (good,) = start(opened), start(opened)
    real = executions.claim

    def claim(pointer: ExecutionPointer, now: Any) -> Any:
        if pointer.execution_id == json.loads(poison)["executionId"]:
            raise ZeroDivisionError
        return real(pointer, now)

    with monkeypatch.context() as scope:
        scope.setattr(executions, "claim", claim)
        assert deliver([poison, good]) == []
        assert len(receiver.got) == 1
        for _ in range(7):
            time.ahead += A_WHILE
            deliver([poison])
    (parked,) = (w for w in list_parked_work() if w.account_id == opened.account_id)
    assert parked.reason == "ZeroDivisionError"
    replay(parked.owner_id, parked.part)
    deliver(queued_messages(opened.account_id))
    assert len(receiver.got) == 2


@pytest.mark.parametrize("body", ["", "x", "[]", "{}", '{"accountId": 1, "executionId": "x"}'])
def test_a_message_that_cannot_be_read_is_left_for_the_dead_letters(
    opened: Opened, receiver: Receiver, body: str
) -> None:
    react(opened.account_id)
    (good,) = start(opened)
    assert deliver([body, good]) == [body]
    assert len(receiver.got) == 1


def test_a_message_of_an_execution_that_is_not_there_is_dropped(opened: Opened) -> None:
    react(opened.account_id)
    (message,) = start(opened)
    elsewhere = json.loads(message) | {"executionId": opened.account_id}
    assert deliver([json.dumps(elsewhere)]) == []


def test_messages_of_a_batch_are_sent_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Barrier

    together = Barrier(4, timeout=5)
    monkeypatch.setattr(service, "MAX_CONCURRENCY", 4)
    pointers: Any = [1, 2, 3, 4]
    assert (
        service.deliver_concurrently(lambda pointer: (together.wait(), pointer)[1], pointers)
        == pointers
    )
