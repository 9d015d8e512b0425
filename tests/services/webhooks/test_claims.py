"""Tests of claims: only the worker with an execution's claim can record an outcome."""

import contextlib
import json
from datetime import datetime, timedelta
from typing import Any

import pytest

import app
from admin.services.webhooks.find import list_executions
from admin.services.workflows.manage import set_workflow_enabled
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.webhooks.execution import Attempt, ExecutionPointer, ExecutionState, Outcome
from chalicelib.domain.workflows.workflow import new_execution
from chalicelib.messages import decode
from chalicelib.queues import MAX_RECEIVES
from chalicelib.services.webhooks.deliveries import read_execution, replay_executions
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import executions
from chalicelib.storage.executions import LEASE, PART, ExecutionRow
from tests.aws.faults import InjectedFault, Killed, failing, inject_fault, repeating
from tests.aws.tables import cancelled
from tests.domain.workflows.factories import action_definition, feedback, workflow
from tests.lambda_context import LambdaContext
from tests.services.kinds import WEBHOOKS
from tests.services.queues import WEBHOOK_QUEUE
from tests.services.webhooks.delivering import (
    LONG_DELAY,
    ReceivingAccount,
    add_workflow,
    executions_of,
    read_only_execution,
    response_with,
    trigger_webhooks,
)
from tests.web.seeded_account import SeededAccount, seed_account

SUCCESS = Outcome(ExecutionState.SUCCEEDED)
OUTCOME = 1
"""Index of the AWS request that records the outcome. Request 0 is the claim."""


def pointer_of(seeded: SeededAccount) -> ExecutionPointer:
    """Submit feedback and return the pointer to the only execution that it starts."""
    (message,) = trigger_webhooks(seeded)
    return decode(ExecutionPointer, message)


def test_claim_blocks_other_claims_until_lease_ends(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id)
    pointer, now = pointer_of(seeded), clock.now().replace(microsecond=0)
    first = executions.claim(pointer, now)
    assert first
    assert executions.claim(pointer, now + LEASE - timedelta(seconds=1)) is None
    second = executions.claim(pointer, now + LEASE)
    assert second
    assert (second.claimed, list(executions.build_execution(second).interrupted)) == (2, [1])


def test_outcome_of_replaced_claim_is_not_recorded(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id)
    pointer, now = pointer_of(seeded), clock.now()
    first = executions.claim(pointer, now)
    second = executions.claim(pointer, now + LEASE + timedelta(seconds=1))
    assert first
    assert second
    before = read_execution(pointer.execution_id)
    assert not executions.save_outcome(first, [Attempt(1, now, status=200)], SUCCESS, now)
    assert read_execution(pointer.execution_id) == before
    assert executions.save_outcome(second, [Attempt(2, now, status=200)], SUCCESS, now)
    assert executions.claim(pointer, now + LONG_DELAY) is None


def test_execution_is_not_claimed_for_another_account(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id)
    other = seed_account()
    workflow = add_workflow(other.account_id)
    (message,) = trigger_webhooks(seeded)
    forged = json.loads(message) | {
        "accountId": other.account_id,
        "workflowId": workflow.id,
        "actionId": workflow.actions[0].id,
    }
    assert WEBHOOK_QUEUE.deliver([json.dumps(forged)]) == []
    assert seeded.receiver.requests == []


@pytest.mark.parametrize("attempts", [1, 8])
def test_webhook_is_sent_once_if_response_to_claim_is_lost(
    seeded: ReceivingAccount, attempts: int
) -> None:
    add_workflow(seeded.account_id, action_definition(attempts=attempts))
    messages = trigger_webhooks(seeded)
    with counted_calls() as calls, repeating("UpdateItem") as repeated:
        WEBHOOK_QUEUE.deliver(messages)
    assert repeated.operations == ["UpdateItem"]
    assert calls["dynamodb.TransactWriteItems"] == 1
    assert len(seeded.receiver.requests) == 1
    execution, attempts_made = read_execution(json.loads(messages[0])["executionId"])
    assert (execution.state, execution.ambiguous) == ("SUCCEEDED", False)
    assert [(attempt.number, attempt.repeat) for attempt in attempts_made] == [(1, False)]


def test_outcome_with_another_claim_token_is_not_recorded(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id)
    pointer, now = pointer_of(seeded), clock.now()
    claim = executions.claim(pointer, now)
    assert claim
    stored, token = ExecutionRow(pointer.execution_id, PART), ExecutionRow.claim_token
    stored.update([token.set("another token")])
    assert not executions.save_outcome(claim, [Attempt(1, now, status=200)], SUCCESS, now)
    assert read_execution(pointer.execution_id)[0].state == "PENDING"
    stored.update([token.set(claim.claim_token)])
    assert executions.save_outcome(claim, [Attempt(1, now, status=200)], SUCCESS, now)


def test_outcome_is_recorded_despite_conflicts(
    seeded: ReceivingAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_workflow(seeded.account_id)
    messages = trigger_webhooks(seeded)
    conflict = cancelled("None", "TransactionConflict")
    with failing(conflict, 5, "TransactWriteItems") as sent:
        WEBHOOK_QUEUE.deliver(messages)
    assert len(sent) == 6
    assert read_only_execution(seeded)[0] == "SUCCEEDED"
    seeded.advance(LONG_DELAY)
    assert len(seeded.receiver.requests) == 1


def test_delivered_webhook_is_recorded_as_succeeded_after_throttling(
    seeded: ReceivingAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_workflow(seeded.account_id)
    messages = trigger_webhooks(seeded)
    with failing(cancelled("None", "ThrottlingError"), 30, "TransactWriteItems") as sent:
        WEBHOOK_QUEUE.deliver(messages)
    assert len(sent) == 31
    assert read_only_execution(seeded)[0] == "SUCCEEDED"
    assert len(seeded.receiver.requests) == 1


def test_outcome_is_recorded_if_its_database_response_is_lost(
    seeded: ReceivingAccount, caplog: pytest.LogCaptureFixture
) -> None:
    add_workflow(seeded.account_id)
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    messages = trigger_webhooks(seeded)
    caplog.clear()
    with inject_fault(OUTCOME, InjectedFault.TIMEOUT_AFTER_PROCESSING):
        WEBHOOK_QUEUE.deliver(messages)
    assert [vars(record).get("outcome") for record in caplog.records] == ["succeeded"]


def test_replay_after_killed_attempt_is_marked_as_repeat(
    seeded: ReceivingAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_workflow(seeded.account_id)
    messages = trigger_webhooks(seeded)
    seeded.receiver.responses = [Killed(), response_with(200)]
    with pytest.raises(Killed):
        WEBHOOK_QUEUE.deliver(messages)

    def fail(*_: Any) -> Any:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(executions, "claim", fail)
        for _ in range(7):
            seeded.time.ahead += LONG_DELAY
            WEBHOOK_QUEUE.deliver(messages)
    state, ambiguous, _ = read_only_execution(seeded)
    assert (state, ambiguous) == ("PARKED", True)
    replay_executions([json.loads(messages[0])["executionId"]])
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(seeded.account_id))
    state, ambiguous, attempts = read_only_execution(seeded)
    assert (state, ambiguous) == ("SUCCEEDED", True)
    assert [(attempt.ambiguous, attempt.repeat) for attempt in attempts] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize("is_committed", [False, True])
def test_webhook_whose_claim_kills_function_is_parked(
    seeded: ReceivingAccount, monkeypatch: pytest.MonkeyPatch, is_committed: bool
) -> None:
    add_workflow(seeded.account_id)
    messages = trigger_webhooks(seeded)
    real_claim = executions.claim

    def kill(pointer: ExecutionPointer, now: datetime) -> None:
        if is_committed:
            real_claim(pointer, now)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(executions, "claim", kill)
        for receive_count in range(1, MAX_RECEIVES + 1):
            with contextlib.suppress(Killed):
                WEBHOOK_QUEUE.deliver(messages, receive_count)
            seeded.time.ahead += timedelta(minutes=6)  # the visibility time-out of the queue
    (row,) = executions_of(seeded.account_id)
    assert (row.state, row.claims, row.reason) == ("PARKED", 8, "interrupted")
    assert bool(row.ambiguous) == is_committed
    replay_executions([row.execution_id])
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(seeded.account_id))
    assert read_only_execution(seeded)[0] == "SUCCEEDED"


def test_redelivery_of_claimed_or_waiting_webhook_counts_no_failure(
    seeded: ReceivingAccount,
) -> None:
    add_workflow(seeded.account_id)
    seeded.receiver.responses = [response_with(429, retry_after="36000"), response_with(200)]
    messages = trigger_webhooks(seeded)
    WEBHOOK_QUEUE.deliver(messages, 2)
    for _ in range(9):
        seeded.time.ahead += timedelta(minutes=6)
        assert WEBHOOK_QUEUE.deliver(messages, 2) == []
    (row,) = executions_of(seeded.account_id)
    assert (row.state, row.claims, row.started_at) == ("PENDING", 0, None)
    seeded.advance(timedelta(hours=11))
    assert read_only_execution(seeded)[0] == "SUCCEEDED"


def test_errors_of_claims_during_retry_delay_do_not_park_execution(
    seeded: ReceivingAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = seeded.attempt(response_with(429, retry_after="3600"), response_with(200))

    def fail(*_: Any) -> Any:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(executions, "claim", fail)
        for _ in range(9):
            WEBHOOK_QUEUE.deliver(messages)
    assert read_only_execution(seeded)[0] == "PENDING"
    seeded.advance(timedelta(minutes=61))
    assert read_only_execution(seeded)[0] == "SUCCEEDED"


def test_attempt_count_of_stopped_execution_equals_sent_requests(seeded: ReceivingAccount) -> None:
    workflow = add_workflow(seeded.account_id)
    seeded.receiver.responses = [response_with(500)]
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    set_workflow_enabled(seeded.account_id, workflow.id, enabled=False)
    seeded.time.ahead += timedelta(minutes=10)
    sweep(WEBHOOKS)
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(seeded.account_id))
    # Either outcome is correct: the cached workflow may be used as enabled for up to a minute.
    (row,) = executions_of(seeded.account_id)
    execution, attempts = read_execution(row.execution_id)
    assert execution.attempt == len(attempts) == len(seeded.receiver.requests)


@pytest.mark.parametrize(
    ("left_s", "claims", "sent"), [((24.9,), 0, 0), ((25.0, 17.9), 1, 0), ((25.0, 18.0), 1, 1)]
)
def test_webhook_is_deferred_when_function_has_little_time_left(
    seeded: ReceivingAccount,
    monkeypatch: pytest.MonkeyPatch,
    left_s: tuple[float, ...],
    claims: int,
    sent: int,
) -> None:
    context, real_claim = LambdaContext(left_s[0]), executions.claim

    def slow_claim(*args: Any) -> Any:
        execution = real_claim(*args)
        context.left_s = left_s[1]
        return execution

    add_workflow(seeded.account_id, action_definition(attempts=1))
    (message,) = trigger_webhooks(seeded)
    record = {"messageId": "1", "body": message, "receiptHandle": "", "attributes": {}}
    with counted_calls() as calls, monkeypatch.context() as patch:
        patch.setattr(executions, "claim", slow_claim)
        response = app.send_webhook({"Records": [record]}, context)
    assert response == {"batchItemFailures": []}
    deferrals = 1 - claims
    assert calls["dynamodb.UpdateItem"] == claims + deferrals
    (row,) = executions_of(seeded.account_id)
    assert (row.claimed, row.deferrals or 0, len(seeded.receiver.requests)) == (
        sent,
        deferrals,
        sent,
    )
    seeded.advance(timedelta(minutes=3))
    state, ambiguous, attempts = read_only_execution(seeded)
    assert (state, ambiguous, len(attempts), len(seeded.receiver.requests)) == (
        "SUCCEEDED",
        False,
        1,
        1,
    )


def test_listing_failed_deliveries_sends_one_query_per_shard(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id, *(action_definition(key=f"a{n}") for n in range(20)))
    trigger_webhooks(seeded)
    with counted_calls() as calls:
        assert list_executions(seeded.account_id, ExecutionState.FAILED, 1) == []
    assert dict(calls) == {"dynamodb.Query": 4}


def test_executions_of_all_shards_are_listed_newest_first(account: str) -> None:
    definition, now = workflow(), clock.now()
    created = [
        new_execution(
            definition,
            definition.actions[0],
            feedback(account_id=account),
            now + timedelta(milliseconds=number),
        )
        for number in range(20)
    ]
    executions.create(created)
    newest = [execution.id for execution in reversed(created)]
    found = list_executions(account, ExecutionState.PENDING, 20)
    assert [execution.id for execution in found] == newest
    assert {execution.account_id for execution in found} == {account}
    assert [each.id for each in list_executions(account, None, 5)] == newest[:5]
    assert list_executions(account, ExecutionState.FAILED, 20) == []


def index_entry(account_id: str) -> dict[str, Any]:
    """Return the only entry of the account in the index of executions by account."""
    shards = [f"{account_id}#{shard}" for shard in range(4)]
    (row,) = [row for shard in shards for row in ExecutionRow.by_account_shard.query(shard)]
    names = ["workflow_id", "action_id", "feedback_id", "state", "attempt", "ambiguous", "reason"]
    return {name: getattr(row, name) for name in names}


def test_claim_does_not_write_index_of_account(seeded: ReceivingAccount) -> None:
    add_workflow(seeded.account_id)
    pointer, now = pointer_of(seeded), clock.now()
    before = index_entry(seeded.account_id)
    claim = executions.claim(pointer, now)
    assert claim
    assert index_entry(seeded.account_id) == before
    assert executions.save_outcome(claim, [Attempt(1, now, status=200)], SUCCESS, now)
    after = index_entry(seeded.account_id)
    assert (after["attempt"], after["state"]) == (1, "SUCCEEDED")


@pytest.mark.parametrize(("count", "existing", "requests"), [(100, 0, 1), (101, 0, 2), (60, 30, 2)])
def test_100_executions_are_created_in_one_request(
    account: str, count: int, existing: int, requests: int
) -> None:
    definition = workflow()
    created = [
        new_execution(definition, definition.actions[0], feedback(account_id=account), clock.now())
        for _ in range(count)
    ]
    executions.create(created[:existing])
    for execution in created[:existing]:
        executions.claim(execution.pointer, clock.now())
    with counted_calls() as calls:
        executions.create(created)
    assert calls.total() == requests
    found = list_executions(account, None, 200)
    assert {execution.id for execution in found} == {execution.id for execution in created}
    claimed = [executions.find(execution.id) for execution in created[:existing]]
    assert all(execution and execution.attempt == 1 for execution in claimed)
