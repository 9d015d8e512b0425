"""Tests of webhook delivery: one execution for each feedback and action, retried after failures."""

import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from admin.services.definitions.kinds import WORKFLOW, save
from admin.services.webhooks.find import list_executions
from admin.services.webhooks.secret import rotate_webhook_secret, signing_webhook_secrets
from admin.services.work.parked import list_parked_work, replay
from admin.services.workflows.manage import set_workflow_enabled
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.webhooks.execution import ExecutionPointer, ExecutionState
from chalicelib.messages import decode
from chalicelib.outbound.webhook_http.exchange import WebhookResponse
from chalicelib.services.caching import clear_caches
from chalicelib.services.webhooks.deliveries import replay_executions
from chalicelib.services.webhooks.send import circuit_breaker
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import executions
from infrastructure.local_cloud.strict.signature import verify
from tests.aws.faults import Killed
from tests.domain.workflows.factories import URL, action_definition, workflow_definition
from tests.services.feedback.submitting import answer_survey
from tests.services.kinds import WEBHOOKS
from tests.services.queues import FEEDBACK_QUEUE, WEBHOOK_QUEUE
from tests.services.webhooks.delivering import (
    LONG_DELAY,
    NO_CONNECTION,
    TIMED_OUT,
    ReceivingAccount,
    add_workflow,
    executions_of,
    read_only_execution,
    response_with,
    trigger_webhooks,
)
from tests.web.seeded_account import seed_account


def test_webhook_of_each_matching_workflow_action_is_sent_once(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id, action_definition(key="a"), action_definition(key="b"))
    save(WORKFLOW, seeded.account_id, workflow_definition(name="Third"))
    unmatched = {"subject": "rating", "operator": "$gt", "value": "8"}
    save(WORKFLOW, seeded.account_id, workflow_definition(name="No", conditions=[unmatched]))
    messages = trigger_webhooks(seeded, nps="8")
    assert len(messages) == 3
    assert WEBHOOK_QUEUE.deliver([*messages, *messages]) == WEBHOOK_QUEUE.deliver(messages) == []
    assert (
        len(seeded.receiver.requests)
        == len({request.execution_id for request in seeded.receiver.requests})
        == 3
    )
    assert {row.state for row in executions_of(seeded.account_id)} == {"SUCCEEDED"}
    assert all(row.due_at is None and row.expires_at for row in executions_of(seeded.account_id))


def test_webhook_is_signed_and_system_headers_override_custom_headers(
    seeded: ReceivingAccount,
) -> None:
    headers = {
        "user-agent": "x",
        "X-SERVICE-webhook-signature": "y",
        "Webhook_Signature": "y",
        "x-own": "z",
    }
    add_workflow(seeded.account_id, action_definition(headers=headers, metadata={"k": "v"}))
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    (request,) = seeded.receiver.requests
    secret = signing_webhook_secrets(seeded.account_id, clock.now())[0]
    verify(
        secret,
        request.headers["X-Service-Webhook-Timestamp"],
        request.headers["X-Service-Webhook-Signature"],
        request.body,
        int(clock.now().timestamp()),
    )
    assert request.headers["User-Agent"] == "Service-Workflow-Webhook"
    assert sorted(name.lower() for name in request.headers) == [
        "content-type",
        "user-agent",
        "webhook-id",
        "webhook-signature",
        "webhook-timestamp",
        "x-own",
        "x-service-webhook-id",
        "x-service-webhook-signature",
        "x-service-webhook-timestamp",
    ]
    assert json.loads(request.body)["metadata"] == {"k": "v"}


def test_delivery_attempt_sends_two_aws_requests(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id)
    first, second = trigger_webhooks(seeded), trigger_webhooks(seeded)
    WEBHOOK_QUEUE.deliver(first)
    with counted_calls() as calls:
        WEBHOOK_QUEUE.deliver(second)
    assert dict(calls) == {"dynamodb.UpdateItem": 1, "dynamodb.TransactWriteItems": 1}


def test_workflows_add_two_aws_requests_to_processing_of_feedback(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id)
    trigger_webhooks(seeded)
    for _ in range(8):
        answer_survey(seeded)
    messages = FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    with counted_calls() as calls:
        FEEDBACK_QUEUE.deliver(messages)
    assert calls["dynamodb.TransactWriteItems"] == 2
    assert calls["sqs.SendMessageBatch"] == 1
    assert calls.total() == 5
    assert len(WEBHOOK_QUEUE.queued_messages(seeded.account_id)) == 8


@pytest.mark.parametrize(
    "failure", [response_with(500), response_with(301), response_with(404), NO_CONNECTION]
)
def test_retry_has_same_body_and_new_signature(
    seeded: ReceivingAccount, failure: WebhookResponse
) -> None:
    messages = seeded.attempt(failure, response_with(204))
    WEBHOOK_QUEUE.deliver(messages)  # a duplicate of the message arrives during the retry delay
    assert len(seeded.receiver.requests) == 1
    seeded.advance(timedelta(seconds=50))
    assert len(seeded.receiver.requests) == 1
    seeded.advance(timedelta(seconds=30))
    first, second = seeded.receiver.requests
    assert first.body == second.body
    assert (
        first.headers["X-Service-Webhook-Signature"]
        != second.headers["X-Service-Webhook-Signature"]
    )
    state, ambiguous, attempts = read_only_execution(seeded)
    assert (state, ambiguous) == ("SUCCEEDED", False)
    assert [(attempt.number, attempt.status, attempt.repeat) for attempt in attempts] == [
        (1, failure.status, False),
        (2, 204, False),
    ]
    seeded.advance(LONG_DELAY)
    assert len(seeded.receiver.requests) == 2


def test_execution_fails_after_eight_attempts_and_is_replayed(seeded: ReceivingAccount) -> None:
    seeded.attempt(response_with(500))
    for _ in range(12):
        seeded.advance(LONG_DELAY)
    assert len(seeded.receiver.requests) == 8
    assert read_only_execution(seeded)[0] == "FAILED"
    (failed,) = list_executions(seeded.account_id, ExecutionState.FAILED, 10)
    assert list_executions(seeded.account_id, ExecutionState.SUCCEEDED, 10) == []
    seeded.receiver.responses = [response_with(500)] * 9 + [response_with(200)]
    assert replay_executions([failed.id]) == {failed.id: "REPLAYED"}
    assert replay_executions([failed.id]) == {failed.id: "DUE"}
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(seeded.account_id))
    seeded.advance(LONG_DELAY)
    state, _, attempts = read_only_execution(seeded)
    assert state == "SUCCEEDED"
    assert [attempt.number for attempt in attempts] == list(range(1, 11))
    assert replay_executions([failed.id]) == {failed.id: "SUCCEEDED"}


def test_workflow_action_sets_number_of_attempts(seeded: ReceivingAccount) -> None:
    seeded.attempt(response_with(500), attempts=2)
    for _ in range(4):
        seeded.advance(LONG_DELAY)
    assert (len(seeded.receiver.requests), read_only_execution(seeded)[0]) == (2, "FAILED")


def test_status_410_stops_execution(seeded: ReceivingAccount) -> None:
    seeded.attempt(response_with(410))
    seeded.advance(LONG_DELAY)
    assert (len(seeded.receiver.requests), read_only_execution(seeded)[0]) == (1, "STOPPED")


def test_retry_after_header_delays_next_attempt(seeded: ReceivingAccount) -> None:
    seeded.attempt(response_with(429, retry_after="3600"), response_with(200))
    seeded.advance(timedelta(minutes=55))
    assert len(seeded.receiver.requests) == 1
    seeded.advance(timedelta(minutes=6))
    assert len(seeded.receiver.requests) == 2


def test_timed_out_attempt_is_ambiguous_and_its_retry_is_a_repeat(seeded: ReceivingAccount) -> None:
    seeded.attempt(TIMED_OUT, response_with(200))
    seeded.advance(LONG_DELAY)
    state, ambiguous, attempts = read_only_execution(seeded)
    assert (state, ambiguous) == ("SUCCEEDED", True)
    assert [(attempt.ambiguous, attempt.repeat) for attempt in attempts] == [
        (True, False),
        (False, True),
    ]


def test_ambiguous_attempt_is_not_retried_if_only_one_attempt_is_allowed(
    seeded: ReceivingAccount,
) -> None:
    seeded.attempt(TIMED_OUT, attempts=1)
    seeded.advance(LONG_DELAY)
    state, ambiguous, attempts = read_only_execution(seeded)
    assert (state, ambiguous, len(attempts), len(seeded.receiver.requests)) == (
        "FAILED",
        True,
        1,
        1,
    )


def test_attempts_after_secret_rotation_use_new_secret(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id)
    seeded.receiver.responses = [response_with(500), response_with(500), response_with(200)]
    old = signing_webhook_secrets(seeded.account_id, clock.now())[0]
    activation_time = clock.now() + timedelta(minutes=5)
    new = rotate_webhook_secret(seeded.account_id, "operator", activation_time).secret
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    seeded.advance(timedelta(minutes=2))
    seeded.advance(timedelta(hours=1))
    assert len(seeded.receiver.requests) == 3
    for request, secret in zip(seeded.receiver.requests, (old, old, new), strict=True):
        stamp = request.headers["X-Service-Webhook-Timestamp"]
        verify(
            secret, stamp, request.headers["X-Service-Webhook-Signature"], request.body, int(stamp)
        )


def test_retry_sends_original_body_to_current_url_of_action(seeded: ReceivingAccount) -> None:
    workflow = add_workflow(seeded.account_id)
    seeded.receiver.responses = [response_with(500), response_with(200)]
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    changed = action_definition(url="https://other.example.com/", metadata={"new": "yes"})
    save(WORKFLOW, seeded.account_id, workflow_definition(id=workflow.id, actions=[changed]))
    clear_caches()
    seeded.advance(LONG_DELAY)
    first, second = seeded.receiver.requests
    assert second.url == "https://other.example.com/"
    assert first.body == second.body


def test_disabled_workflow_stops_pending_execution(seeded: ReceivingAccount) -> None:
    workflow = add_workflow(seeded.account_id)
    seeded.receiver.responses = [response_with(500)]
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    set_workflow_enabled(seeded.account_id, workflow.id, enabled=False)
    clear_caches()
    seeded.advance(LONG_DELAY)
    assert (read_only_execution(seeded)[0], len(seeded.receiver.requests)) == ("STOPPED", 1)
    assert trigger_webhooks(seeded) == []


def test_open_circuit_defers_only_webhooks_to_unresponsive_host(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id)
    seeded.receiver.responses = [TIMED_OUT]
    messages = [message for _ in range(5) for message in trigger_webhooks(seeded)]
    assert WEBHOOK_QUEUE.deliver(messages) == []
    assert len(seeded.receiver.requests) == 3
    assert sorted(int(row.attempt) for row in executions_of(seeded.account_id)) == [0, 0, 1, 1, 1]
    other = seed_account()
    add_workflow(other.account_id, action_definition(url="https://healthy.example.com/"))
    seeded.receiver.responses = [response_with(200)]
    WEBHOOK_QUEUE.deliver(trigger_webhooks(other))
    assert read_only_execution(other)[0] == "SUCCEEDED"
    seeded.advance(timedelta(minutes=3))
    assert {row.state for row in executions_of(seeded.account_id)} == {"SUCCEEDED"}


@pytest.mark.parametrize("state", ["ended", "claimed", "deferred"])
def test_open_circuit_does_not_change_webhook_that_is_not_due(
    seeded: ReceivingAccount, state: str
) -> None:
    if state == "claimed":
        add_workflow(seeded.account_id)
        messages = trigger_webhooks(seeded)
        assert executions.claim(decode(ExecutionPointer, messages[0]), clock.now())
    else:
        messages = seeded.attempt(response_with(200 if state == "ended" else 500))
    (before,) = executions_of(seeded.account_id)
    for _ in range(3):
        host = urlsplit(URL).netloc
        circuit_breaker.record_result(seeded.account_id, host, clock.now(), timed_out=True)
    seeded.time.ahead += timedelta(seconds=1)
    assert WEBHOOK_QUEUE.deliver(messages) == []
    (after,) = executions_of(seeded.account_id)
    assert after.attribute_values == before.attribute_values


def test_missing_secret_defers_webhook(seeded: ReceivingAccount) -> None:
    save(WORKFLOW, seeded.account_id, workflow_definition())
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    assert seeded.receiver.requests == []
    rotate_webhook_secret(seeded.account_id, "operator")
    seeded.advance(LONG_DELAY)
    assert len(seeded.receiver.requests) == 1


def test_execution_that_always_kills_function_is_parked_until_replay(
    seeded: ReceivingAccount,
) -> None:
    add_workflow(seeded.account_id)
    seeded.receiver.responses = [Killed()]
    messages = trigger_webhooks(seeded)
    for _ in range(8):
        with pytest.raises(Killed):
            WEBHOOK_QUEUE.deliver(messages)
        seeded.time.ahead += timedelta(minutes=5)
    assert WEBHOOK_QUEUE.deliver(messages) == []
    assert len(seeded.receiver.requests) == 8
    (parked,) = (w for w in list_parked_work() if w.account_id == seeded.account_id)
    assert (parked.kind, parked.claims) == ("webhook", 8)
    seeded.time.ahead += LONG_DELAY
    sweep(WEBHOOKS)
    assert WEBHOOK_QUEUE.queued_messages(seeded.account_id) == []
    seeded.receiver.responses = [response_with(200)]
    replay(parked.owner_id, parked.part)
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(seeded.account_id))
    state, ambiguous, attempts = read_only_execution(seeded)
    assert (state, ambiguous, attempts[-1].repeat) == ("SUCCEEDED", True, True)
    assert [attempt.ambiguous for attempt in attempts] == [True] * 8 + [False]


def test_execution_that_cannot_be_claimed_is_parked_and_does_not_block_others(
    seeded: ReceivingAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_workflow(seeded.account_id)
    (poison,), (good,) = trigger_webhooks(seeded), trigger_webhooks(seeded)
    real = executions.claim

    def claim(pointer: ExecutionPointer, now: Any) -> Any:
        if pointer.execution_id == json.loads(poison)["executionId"]:
            raise ZeroDivisionError
        return real(pointer, now)

    with monkeypatch.context() as scope:
        scope.setattr(executions, "claim", claim)
        assert WEBHOOK_QUEUE.deliver([poison, good]) == []
        assert len(seeded.receiver.requests) == 1
        for _ in range(7):
            seeded.time.ahead += LONG_DELAY
            WEBHOOK_QUEUE.deliver([poison])
    (parked,) = (w for w in list_parked_work() if w.account_id == seeded.account_id)
    assert parked.reason == "ZeroDivisionError"
    replay(parked.owner_id, parked.part)
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(seeded.account_id))
    assert len(seeded.receiver.requests) == 2


def test_message_of_unknown_execution_is_deleted(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id)
    (message,) = trigger_webhooks(seeded)
    unknown_execution = json.loads(message) | {"executionId": seeded.account_id}
    assert WEBHOOK_QUEUE.deliver([json.dumps(unknown_execution)]) == []
