"""Claims of executions: exclusiveness, leases, and recording of outcomes."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.endpoint import Endpoint
from botocore.exceptions import ReadTimeoutError
from chalice.app import SQSEvent

from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.webhooks.execution import Attempt, ExecutionPointer, ExecutionState, Outcome
from chalicelib.functions.send_webhook import send_webhook
from chalicelib.messages import decode
from chalicelib.services.webhooks.deliveries import list_deliveries, read_delivery, replay_delivery
from chalicelib.services.work.kinds import WEBHOOKS
from chalicelib.services.work.sweep import sweep
from chalicelib.services.workflows.manage import set_workflow_enabled
from chalicelib.storage import executions
from chalicelib.storage.executions import LEASE
from tests.domain.workflows.factories import action_document
from tests.services.faults import InjectedFault, Killed, faulty
from tests.services.moved_time import Time
from tests.services.queues import WEBHOOK_QUEUE
from tests.services.webhooks.delivering import (
    A_WHILE,
    Receiver,
    answered,
    executions_of,
    only,
    pass_time,
    react,
    start,
)
from tests.web.opened import Opened, open_account

SUCCESS = Outcome(ExecutionState.SUCCEEDED)
OUTCOME = 1
"""Index of the request that records the outcome. The claim is request 0."""


def pointer_of(opened: Opened) -> ExecutionPointer:
    """Submit feedback and return the pointer to its only execution."""
    (message,) = start(opened)
    return decode(ExecutionPointer, message)


def test_claim_blocks_other_claims_until_lease_ends(opened: Opened) -> None:
    react(opened.account_id)
    pointer, now = pointer_of(opened), clock.now().replace(microsecond=0)
    first = executions.claim(pointer, now)
    assert first
    assert executions.claim(pointer, now + LEASE - timedelta(seconds=1)) is None
    second = executions.claim(pointer, now + LEASE)
    assert second
    assert (second.attempt, list(second.interrupted)) == (2, [1])


def test_only_last_claim_may_record_outcome(opened: Opened) -> None:
    react(opened.account_id)
    pointer, now = pointer_of(opened), clock.now()
    first = executions.claim(pointer, now)
    second = executions.claim(pointer, now + LEASE + timedelta(seconds=1))
    assert first
    assert second
    before = read_delivery(pointer.execution_id)
    assert not executions.save_outcome(first, [Attempt(1, now, status=200)], SUCCESS, now)
    assert read_delivery(pointer.execution_id) == before
    assert executions.save_outcome(second, [Attempt(2, now, status=200)], SUCCESS, now)
    assert executions.claim(pointer, now + A_WHILE) is None


def test_execution_is_not_claimed_for_another_account(opened: Opened, receiver: Receiver) -> None:
    react(opened.account_id)
    other = open_account()
    workflow = react(other.account_id)
    (message,) = start(opened)
    forged = json.loads(message) | {
        "accountId": other.account_id,
        "workflowId": workflow.id,
        "actionId": workflow.actions[0].id,
    }
    assert WEBHOOK_QUEUE.deliver([json.dumps(forged)]) == []
    assert receiver.got == []


def lose_the_first_answer(patch: pytest.MonkeyPatch, operation: str) -> None:
    """Drop the response of the first request of this operation, after AWS has processed it."""
    real, lost = Endpoint._get_response, []

    def get_response(endpoint: Endpoint, request: Any, model: Any, context: Any) -> Any:
        answer = real(endpoint, request, model, context)  # type: ignore[attr-defined]
        if model.name != operation or lost:
            return answer
        lost.append(model.name)
        return None, ReadTimeoutError(endpoint_url="x")

    patch.setattr(Endpoint, "_get_response", get_response)
    patch.setattr("botocore.endpoint.time.sleep", lambda _: None)


@pytest.mark.parametrize("attempts", [1, 8])
def test_claim_with_lost_response_is_delivered_once(
    opened: Opened, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, attempts: int
) -> None:
    react(opened.account_id, action_document(attempts=attempts))
    messages = start(opened)
    with monkeypatch.context() as patch:
        lose_the_first_answer(patch, "UpdateItem")
        WEBHOOK_QUEUE.deliver(messages)
    assert len(receiver.got) == 1
    execution, made = read_delivery(json.loads(messages[0])["executionId"])
    assert (execution.state, execution.ambiguous) == ("SUCCEEDED", False)
    assert [(each.number, each.repeat) for each in made] == [(1, False)]


def test_outcome_is_recorded_only_with_its_claim_token(opened: Opened) -> None:
    react(opened.account_id)
    pointer, now = pointer_of(opened), clock.now()
    mine = executions.claim(pointer, now)
    assert mine
    theirs = replace(mine, claim_token="another token")
    assert not executions.save_outcome(theirs, [Attempt(1, now, status=200)], SUCCESS, now)
    assert read_delivery(pointer.execution_id)[0].state == "PENDING"
    assert executions.save_outcome(mine, [Attempt(1, now, status=200)], SUCCESS, now)


def test_outcome_is_recorded_despite_conflicts(
    opened: Opened, receiver: Receiver, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    react(opened.account_id)
    messages = start(opened)
    real = BaseClient._make_api_call  # type: ignore[attr-defined]
    conflicts = []

    def conflict(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        if operation != "TransactWriteItems" or len(conflicts) == 5:
            return real(client, operation, arguments)
        conflicts.append(operation)
        with faulty(monkeypatch, 0, InjectedFault.CONFLICT):
            return client._make_api_call(operation, arguments)  # type: ignore[attr-defined]

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", conflict)
        WEBHOOK_QUEUE.deliver(messages)
    assert len(conflicts) == 5
    assert only(opened)[0] == "SUCCEEDED"
    pass_time(opened.account_id, time, A_WHILE)
    assert len(receiver.got) == 1


def test_outcome_with_lost_response_counts_as_recorded(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    react(opened.account_id)
    WEBHOOK_QUEUE.deliver(start(opened))
    messages = start(opened)
    caplog.clear()
    with faulty(monkeypatch, OUTCOME, InjectedFault.DONE_BUT_UNANSWERED):
        WEBHOOK_QUEUE.deliver(messages)
    assert [vars(record).get("outcome") for record in caplog.records] == ["succeeded"]


def test_execution_parked_during_attempt_marks_replay_as_repeat(
    opened: Opened, receiver: Receiver, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    react(opened.account_id)
    messages = start(opened)
    receiver.answers = [Killed(), answered(200)]
    with pytest.raises(Killed):
        WEBHOOK_QUEUE.deliver(messages)

    def refuse(*_: Any) -> Any:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(executions, "claim", refuse)
        for _ in range(7):
            time.ahead += A_WHILE
            WEBHOOK_QUEUE.deliver(messages)
    state, ambiguous, _ = only(opened)
    assert (state, ambiguous) == ("PARKED", True)
    replay_delivery(json.loads(messages[0])["executionId"])
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(opened.account_id))
    state, ambiguous, attempts = only(opened)
    assert (state, ambiguous) == ("SUCCEEDED", True)
    assert [(each.ambiguous, each.repeat) for each in attempts] == [(True, False), (False, True)]


def test_failure_before_retry_delay_ends_is_not_counted(
    opened: Opened, receiver: Receiver, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    react(opened.account_id)
    receiver.answers = [answered(429, retry_after="3600"), answered(200)]
    messages = start(opened)
    WEBHOOK_QUEUE.deliver(messages)

    def refuse(*_: Any) -> Any:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(executions, "claim", refuse)
        for _ in range(9):
            WEBHOOK_QUEUE.deliver(messages)
    assert only(opened)[0] == "PENDING"
    pass_time(opened.account_id, time, timedelta(minutes=61))
    assert only(opened)[0] == "SUCCEEDED"


def test_execution_ended_without_attempt_does_not_increment_attempt_count(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    workflow = react(opened.account_id)
    receiver.answers = [answered(500)]
    WEBHOOK_QUEUE.deliver(start(opened))
    set_workflow_enabled(opened.account_id, workflow.id, enabled=False)
    time.ahead += timedelta(minutes=10)
    sweep(WEBHOOKS)
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(opened.account_id))
    # The cached workflow may remain enabled for a minute.
    (row,) = executions_of(opened.account_id)
    execution, attempts = read_delivery(row.execution_id)
    assert execution.attempt == len(attempts) == len(receiver.got)


class Context:
    """A Lambda context that returns the next remaining time at each call."""

    def __init__(self, *left_s: float) -> None:
        self.left_s = list(left_s)

    def get_remaining_time_in_millis(self) -> int:
        return int(self.left_s.pop(0) * 1000)


@pytest.mark.parametrize(
    ("left_s", "claims", "sent"), [((16.9,), 0, 0), ((17.0, 11.9), 1, 0), ((17.0, 12.0), 1, 1)]
)
def test_webhook_is_deferred_when_little_time_remains(
    opened: Opened,
    receiver: Receiver,
    time: Time,
    left_s: tuple[float, ...],
    claims: int,
    sent: int,
) -> None:
    react(opened.account_id, action_document(attempts=1))
    (message,) = start(opened)
    record = {"messageId": "1", "body": message, "receiptHandle": "", "attributes": {}}
    with counted_calls() as calls:
        answer = send_webhook(SQSEvent({"Records": [record]}, Context(*left_s)))
    assert answer == {"batchItemFailures": []}
    assert (calls["dynamodb.UpdateItem"], len(receiver.got)) == (claims, sent)
    pass_time(opened.account_id, time, timedelta(minutes=3))
    state, ambiguous, attempts = only(opened)
    assert (state, ambiguous, len(attempts), len(receiver.got)) == ("SUCCEEDED", False, 1, 1)


def test_deeply_nested_message_does_not_affect_other_messages(
    opened: Opened, receiver: Receiver
) -> None:
    react(opened.account_id)
    (good,) = start(opened)
    nested = "[" * 100_000
    assert WEBHOOK_QUEUE.deliver([nested, good]) == [nested]
    assert len(receiver.got) == 1


def test_listing_failed_deliveries_makes_two_requests(opened: Opened) -> None:
    react(opened.account_id, *(action_document(key=f"a{n}") for n in range(20)))
    start(opened)
    with counted_calls() as calls:
        assert list_deliveries(opened.account_id, ExecutionState.FAILED, 1) == []
    assert dict(calls) == {
        "dynamodb.GetItem": 1,
        "dynamodb.Query": 1,
    }  # the account and its executions
