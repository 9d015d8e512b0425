"""Webhook delivery: one execution for each feedback record and action, with retries."""

import json
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict
from chalicelib.domain.webhooks.execution import ExecutionPointer, ExecutionState
from chalicelib.domain.webhooks.signature import verify
from chalicelib.outbound.webhook_http.exchange import WebhookResponse
from chalicelib.services.caching import clear_caches
from chalicelib.services.webhooks import send as service
from chalicelib.services.webhooks.deliveries import list_deliveries, replay_delivery
from chalicelib.services.webhooks.secret import rotate_webhook_secret
from chalicelib.services.work.kinds import WEBHOOKS
from chalicelib.services.work.parked import list_parked_work, replay
from chalicelib.services.work.sweep import sweep
from chalicelib.services.workflows.manage import save_workflow, set_workflow_enabled
from chalicelib.storage import executions, webhook_secrets
from tests.domain.workflows.factories import action_document, workflow_document
from tests.services.feedback.test_process import answer_survey
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE, WEBHOOK_QUEUE
from tests.services.webhooks.delivering import (
    A_WHILE,
    NO_CONNECTION,
    TIMED_OUT,
    Receiver,
    answered,
    executions_of,
    only,
    pass_time,
    react,
    start,
)
from tests.web.opened import Opened, open_account


def test_each_matching_action_is_sent_once(opened: Opened, receiver: Receiver) -> None:
    react(opened.account_id, action_document(key="a"), action_document(key="b"))
    save_workflow(opened.account_id, workflow_document(name="Third"))
    unmatched = {"subject": "rating", "operator": "$gt", "value": "8"}
    save_workflow(opened.account_id, workflow_document(name="No", conditions=[unmatched]))
    messages = start(opened, nps="8")
    assert len(messages) == 3
    assert WEBHOOK_QUEUE.deliver([*messages, *messages]) == WEBHOOK_QUEUE.deliver(messages) == []
    assert len(receiver.got) == len({got.execution_id for got in receiver.got}) == 3
    assert {row.state for row in executions_of(opened.account_id)} == {"SUCCEEDED"}
    assert all(row.due_at is None and row.expires_at for row in executions_of(opened.account_id))


def test_webhook_is_signed_and_system_headers_override_custom_headers(
    opened: Opened, receiver: Receiver
) -> None:
    headers = {"user-agent": "x", "X-SERVICE-webhook-signature": "y", "x-own": "z"}
    react(opened.account_id, action_document(headers=headers, metadata={"k": "v"}))
    WEBHOOK_QUEUE.deliver(start(opened))
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


def test_attempt_makes_two_requests(opened: Opened) -> None:
    react(opened.account_id)
    first, second = start(opened), start(opened)
    WEBHOOK_QUEUE.deliver(first)
    with counted_calls() as calls:
        WEBHOOK_QUEUE.deliver(second)
    assert dict(calls) == {"dynamodb.UpdateItem": 1, "dynamodb.TransactWriteItems": 1}


def test_workflows_add_two_requests_to_feedback_batch(opened: Opened) -> None:
    react(opened.account_id)
    start(opened)
    for _ in range(8):
        answer_survey(opened)
    messages = FEEDBACK_QUEUE.queued_messages(opened.account_id)
    with counted_calls() as calls:
        FEEDBACK_QUEUE.deliver(messages)
    assert calls["dynamodb.TransactWriteItems"] == 2
    assert calls["sqs.SendMessageBatch"] == 1
    assert calls.total() == 4
    assert len(WEBHOOK_QUEUE.queued_messages(opened.account_id)) == 8


@pytest.mark.parametrize("failure", [answered(500), answered(301), answered(404), NO_CONNECTION])
def test_retry_has_same_body_and_new_signature(
    opened: Opened, receiver: Receiver, time: Time, failure: WebhookResponse
) -> None:
    react(opened.account_id)
    receiver.answers = [failure, answered(204)]
    messages = start(opened)
    WEBHOOK_QUEUE.deliver(messages)
    WEBHOOK_QUEUE.deliver(messages)  # duplicate message during the retry delay
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


def test_execution_fails_after_eight_attempts_and_is_replayed(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id)
    receiver.answers = [answered(500)]
    WEBHOOK_QUEUE.deliver(start(opened))
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
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(opened.account_id))
    pass_time(opened.account_id, time, A_WHILE)
    state, _, attempts = only(opened)
    assert state == "SUCCEEDED"
    assert [each.number for each in attempts] == list(range(1, 11))
    with pytest.raises(Conflict):
        replay_delivery(failed.id)


def test_number_of_attempts_is_set_by_action(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id, action_document(attempts=2))
    receiver.answers = [answered(500)]
    WEBHOOK_QUEUE.deliver(start(opened))
    for _ in range(4):
        pass_time(opened.account_id, time, A_WHILE)
    assert (len(receiver.got), only(opened)[0]) == (2, "FAILED")


def test_status_410_stops_execution(opened: Opened, receiver: Receiver, time: Time) -> None:
    react(opened.account_id)
    receiver.answers = [answered(410)]
    WEBHOOK_QUEUE.deliver(start(opened))
    pass_time(opened.account_id, time, A_WHILE)
    assert (len(receiver.got), only(opened)[0]) == (1, "STOPPED")


def test_retry_after_delays_next_attempt(opened: Opened, receiver: Receiver, time: Time) -> None:
    react(opened.account_id)
    receiver.answers = [answered(429, retry_after="3600"), answered(200)]
    WEBHOOK_QUEUE.deliver(start(opened))
    pass_time(opened.account_id, time, timedelta(minutes=55))
    assert len(receiver.got) == 1
    pass_time(opened.account_id, time, timedelta(minutes=6))
    assert len(receiver.got) == 2


def test_timeout_after_sending_is_ambiguous_and_its_retry_is_marked(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id)
    receiver.answers = [TIMED_OUT, answered(200)]
    WEBHOOK_QUEUE.deliver(start(opened))
    pass_time(opened.account_id, time, A_WHILE)
    state, ambiguous, attempts = only(opened)
    assert (state, ambiguous) == ("SUCCEEDED", True)
    assert [(each.ambiguous, each.repeat) for each in attempts] == [(True, False), (False, True)]


def test_ambiguous_attempt_is_not_retried_if_one_attempt_is_allowed(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id, action_document(attempts=1))
    receiver.answers = [TIMED_OUT]
    WEBHOOK_QUEUE.deliver(start(opened))
    pass_time(opened.account_id, time, A_WHILE)
    state, ambiguous, attempts = only(opened)
    assert (state, ambiguous, len(attempts), len(receiver.got)) == ("FAILED", True, 1, 1)


def test_rotated_secret_signs_later_attempts(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id)
    receiver.answers = [answered(500), answered(500), answered(200)]
    old = webhook_secrets.find_active(opened.account_id, clock.now())
    cutover = clock.now() + timedelta(minutes=5)
    new = rotate_webhook_secret(opened.account_id, cutover).secret
    WEBHOOK_QUEUE.deliver(start(opened))
    pass_time(opened.account_id, time, timedelta(minutes=2))
    pass_time(opened.account_id, time, timedelta(hours=1))
    assert len(receiver.got) == 3
    for got, secret in zip(receiver.got, (old, old, new), strict=True):
        stamp = got.headers["X-Service-Webhook-Timestamp"]
        assert secret
        verify(secret, stamp, got.headers["X-Service-Webhook-Signature"], got.body, int(stamp))


def test_retry_uses_current_url_and_headers(opened: Opened, receiver: Receiver, time: Time) -> None:
    workflow = react(opened.account_id)
    receiver.answers = [answered(500), answered(200)]
    WEBHOOK_QUEUE.deliver(start(opened))
    changed = action_document(url="https://other.example.com/", metadata={"new": "yes"})
    save_workflow(opened.account_id, workflow_document(id=workflow.id, actions=[changed]))
    clear_caches()
    pass_time(opened.account_id, time, A_WHILE)
    first, second = receiver.got
    assert second.url == "https://other.example.com/"
    assert first.body == second.body


def test_disabled_workflow_stops_pending_execution(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    workflow = react(opened.account_id)
    receiver.answers = [answered(500)]
    WEBHOOK_QUEUE.deliver(start(opened))
    set_workflow_enabled(opened.account_id, workflow.id, enabled=False)
    clear_caches()
    pass_time(opened.account_id, time, A_WHILE)
    assert (only(opened)[0], len(receiver.got)) == ("STOPPED", 1)
    assert start(opened) == []


def test_open_circuit_defers_only_unresponsive_host(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    react(opened.account_id)
    receiver.answers = [TIMED_OUT]
    messages = [message for _ in range(5) for message in start(opened)]
    assert WEBHOOK_QUEUE.deliver(messages) == []
    assert len(receiver.got) == 3
    assert sorted(int(row.attempt) for row in executions_of(opened.account_id)) == [0, 0, 1, 1, 1]
    other = open_account()
    react(other.account_id, action_document(url="https://healthy.example.com/"))
    receiver.answers = [answered(200)]
    WEBHOOK_QUEUE.deliver(start(other))
    assert only(other)[0] == "SUCCEEDED"
    pass_time(opened.account_id, time, timedelta(minutes=3))
    assert {row.state for row in executions_of(opened.account_id)} == {"SUCCEEDED"}


def test_missing_secret_defers_webhook(opened: Opened, receiver: Receiver, time: Time) -> None:
    save_workflow(opened.account_id, workflow_document())
    WEBHOOK_QUEUE.deliver(start(opened))
    assert receiver.got == []
    rotate_webhook_secret(opened.account_id)
    pass_time(opened.account_id, time, A_WHILE)
    assert len(receiver.got) == 1


def test_execution_that_always_kills_function_is_parked(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    class Killed(BaseException):
        pass

    react(opened.account_id)
    receiver.answers = [Killed()]
    messages = start(opened)
    for _ in range(8):
        with pytest.raises(Killed):
            WEBHOOK_QUEUE.deliver(messages)
        time.ahead += timedelta(minutes=5)
    assert WEBHOOK_QUEUE.deliver(messages) == []
    assert len(receiver.got) == 8
    (parked,) = (w for w in list_parked_work() if w.account_id == opened.account_id)
    assert (parked.kind, parked.claims) == ("webhook", 8)
    time.ahead += A_WHILE
    sweep(WEBHOOKS)
    assert WEBHOOK_QUEUE.queued_messages(opened.account_id) == []
    receiver.answers = [answered(200)]
    replay(parked.owner_id, parked.part)
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(opened.account_id))
    state, ambiguous, attempts = only(opened)
    assert (state, ambiguous, attempts[-1].repeat) == ("SUCCEEDED", True, True)
    assert [each.ambiguous for each in attempts] == [True] * 8 + [False]


def test_unclaimable_execution_is_parked_without_blocking_others(
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
        assert WEBHOOK_QUEUE.deliver([poison, good]) == []
        assert len(receiver.got) == 1
        for _ in range(7):
            time.ahead += A_WHILE
            WEBHOOK_QUEUE.deliver([poison])
    (parked,) = (w for w in list_parked_work() if w.account_id == opened.account_id)
    assert parked.reason == "ZeroDivisionError"
    replay(parked.owner_id, parked.part)
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(opened.account_id))
    assert len(receiver.got) == 2


@pytest.mark.parametrize("body", ["", "x", "[]", "{}", '{"accountId": 1, "executionId": "x"}'])
def test_unreadable_message_is_reported_as_failed(
    opened: Opened, receiver: Receiver, body: str
) -> None:
    react(opened.account_id)
    (good,) = start(opened)
    assert WEBHOOK_QUEUE.deliver([body, good]) == [body]
    assert len(receiver.got) == 1


def test_message_without_execution_is_dropped(opened: Opened) -> None:
    react(opened.account_id)
    (message,) = start(opened)
    elsewhere = json.loads(message) | {"executionId": opened.account_id}
    assert WEBHOOK_QUEUE.deliver([json.dumps(elsewhere)]) == []


def test_messages_of_batch_are_sent_concurrently(monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Barrier

    together = Barrier(4, timeout=5)
    monkeypatch.setattr(service, "MAX_CONCURRENCY", 4)
    pointers: Any = [1, 2, 3, 4]
    assert (
        service.deliver_concurrently(lambda pointer: (together.wait(), pointer)[1], pointers)
        == pointers
    )
