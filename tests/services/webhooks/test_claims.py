"""Claims of executions: who may send, for how long, and who may say what came of it."""

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
from chalicelib.outbound.webhook_queue import pointer_in
from chalicelib.services.webhooks.deliveries import list_deliveries, read_delivery, replay_delivery
from chalicelib.services.work.kinds import WEBHOOKS
from chalicelib.services.work.sweep import sweep
from chalicelib.services.workflows.manage import set_workflow_enabled
from chalicelib.storage import executions
from chalicelib.storage.executions import LEASE
from tests.domain.workflows.factories import action_document
from tests.services.faults import InjectedFault, Killed, faulty
from tests.services.webhooks.delivering import (
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
from tests.services.webhooks.test_send import A_WHILE, only, opened, start
from tests.web.opened import Opened, open_account

__all__ = ["opened", "receiver", "time"]

SUCCESS = Outcome(ExecutionState.SUCCEEDED)
OUTCOME = 1
"""The second request of a delivery, after the claim."""


def pointer_of(opened: Opened) -> ExecutionPointer:
    """The pointer to the one execution of a feedback that was just given."""
    (message,) = start(opened)
    return pointer_in(message)


def test_a_claim_holds_as_long_as_its_lease(opened: Opened) -> None:
    react(opened.account_id)
    pointer, now = pointer_of(opened), clock.now().replace(microsecond=0)
    first = executions.claim(pointer, now)
    assert first
    assert executions.claim(pointer, now + LEASE - timedelta(seconds=1)) is None
    second = executions.claim(pointer, now + LEASE)
    assert second
    assert (second.attempt, list(second.interrupted)) == (2, [1])


def test_only_the_last_claim_may_say_what_came_of_it(opened: Opened) -> None:
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


def test_nobody_claims_an_execution_in_the_name_of_another_account(
    opened: Opened, receiver: Receiver
) -> None:
    react(opened.account_id)
    other = open_account()
    workflow = react(other.account_id)
    (message,) = start(opened)
    forged = json.loads(message) | {
        "accountId": other.account_id,
        "workflowId": workflow.id,
        "actionId": workflow.actions[0].id,
    }
    assert deliver([json.dumps(forged)]) == []
    assert receiver.got == []


def lose_the_first_answer(patch: pytest.MonkeyPatch, operation: str) -> None:
    """Has botocore believe that the first of these requests, which is done, was not answered."""
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
def test_a_claim_whose_answer_is_lost_is_gone_on_with(
    opened: Opened, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, attempts: int
) -> None:
    react(opened.account_id, action_document(attempts=attempts))
    messages = start(opened)
    with monkeypatch.context() as patch:
        lose_the_first_answer(patch, "UpdateItem")
        deliver(messages)
    assert len(receiver.got) == 1
    execution, made = read_delivery(json.loads(messages[0])["executionId"])
    assert (execution.state, execution.ambiguous) == ("SUCCEEDED", False)
    assert [(each.number, each.repeat) for each in made] == [(1, False)]


def test_an_outcome_is_written_for_the_claim_that_bears_its_mark_only(opened: Opened) -> None:
    react(opened.account_id)
    pointer, now = pointer_of(opened), clock.now()
    mine = executions.claim(pointer, now)
    assert mine
    theirs = replace(mine, claim_token="another token")
    assert not executions.save_outcome(theirs, [Attempt(1, now, status=200)], SUCCESS, now)
    assert read_delivery(pointer.execution_id)[0].state == "PENDING"
    assert executions.save_outcome(mine, [Attempt(1, now, status=200)], SUCCESS, now)


def test_conflicts_do_not_lose_what_the_receiver_said(
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
        deliver(messages)
    assert len(conflicts) == 5
    assert only(opened)[0] == "SUCCEEDED"
    pass_time(opened.account_id, time, A_WHILE)
    assert len(receiver.got) == 1


def test_an_outcome_whose_answer_is_lost_counts_as_written(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    react(opened.account_id)
    deliver(start(opened))
    messages = start(opened)
    caplog.clear()
    with faulty(monkeypatch, OUTCOME, InjectedFault.DONE_BUT_UNANSWERED):
        deliver(messages)
    assert [vars(record).get("outcome") for record in caplog.records] == ["succeeded"]


def test_one_that_was_parked_with_an_attempt_under_way_repeats_with_a_mark(
    opened: Opened, receiver: Receiver, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    react(opened.account_id)
    messages = start(opened)
    receiver.answers = [Killed(), answered(200)]
    with pytest.raises(Killed):
        deliver(messages)

    def refuse(*_: Any) -> Any:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(executions, "claim", refuse)
        for _ in range(7):
            time.ahead += A_WHILE
            deliver(messages)
    state, ambiguous, _ = only(opened)
    assert (state, ambiguous) == ("PARKED", True)
    replay_delivery(json.loads(messages[0])["executionId"])
    deliver(queued_messages(opened.account_id))
    state, ambiguous, attempts = only(opened)
    assert (state, ambiguous) == ("SUCCEEDED", True)
    assert [(each.ambiguous, each.repeat) for each in attempts] == [(True, False), (False, True)]


def test_a_failure_before_the_wait_is_over_is_not_counted(
    opened: Opened, receiver: Receiver, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    react(opened.account_id)
    receiver.answers = [answered(429, retry_after="3600"), answered(200)]
    messages = start(opened)
    deliver(messages)

    def refuse(*_: Any) -> Any:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(executions, "claim", refuse)
        for _ in range(9):
            deliver(messages)
    assert only(opened)[0] == "PENDING"
    pass_time(opened.account_id, time, timedelta(minutes=61))
    assert only(opened)[0] == "SUCCEEDED"


def test_what_ends_without_an_attempt_counts_none(
    opened: Opened, receiver: Receiver, time: Time
) -> None:
    workflow = react(opened.account_id)
    receiver.answers = [answered(500)]
    deliver(start(opened))
    set_workflow_enabled(opened.account_id, workflow.id, enabled=False)
    time.ahead += timedelta(minutes=10)
    sweep(WEBHOOKS)
    deliver(queued_messages(opened.account_id))
    # What is held for a minute may still be enabled.
    (row,) = executions_of(opened.account_id)
    execution, attempts = read_delivery(row.execution_id)
    assert execution.attempt == len(attempts) == len(receiver.got)


class Context:
    """What Lambda tells a function of its time: so much at each look at it."""

    def __init__(self, *left_s: float) -> None:
        self.left_s = list(left_s)

    def get_remaining_time_in_millis(self) -> int:
        return int(self.left_s.pop(0) * 1000)


@pytest.mark.parametrize(
    ("left_s", "claims", "sent"), [((16.9,), 0, 0), ((17.0, 11.9), 1, 0), ((17.0, 12.0), 1, 1)]
)
def test_nothing_is_sent_that_there_is_no_time_for(
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


def test_a_message_nested_without_end_harms_no_other(opened: Opened, receiver: Receiver) -> None:
    react(opened.account_id)
    (good,) = start(opened)
    nested = "[" * 100_000
    assert deliver([nested, good]) == [nested]
    assert len(receiver.got) == 1


def test_looking_for_the_few_that_failed_reads_the_many_together(opened: Opened) -> None:
    react(opened.account_id, *(action_document(key=f"a{n}") for n in range(20)))
    start(opened)
    with counted_calls() as calls:
        assert list_deliveries(opened.account_id, ExecutionState.FAILED, 1) == []
    assert dict(calls) == {"dynamodb.GetItem": 1, "dynamodb.Query": 1}  # the account, and its own
