"""Tests of listing, reading, replaying and testing webhook deliveries."""

import json
from datetime import datetime, timedelta
from ipaddress import ip_address
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import pytest
from chalice.test import Client
from moto.core import DEFAULT_ACCOUNT_ID
from moto.sqs.models import sqs_backends

from admin.services.work.parked import replay as replay_parked_work
from admin.services.workflows.manage import set_workflow_enabled
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import in_groups
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.webhooks.execution import (
    TEST_FEEDBACK_ID,
    Attempt,
    Execution,
    ExecutionPointer,
    ExecutionState,
    Outcome,
    ReplayResult,
)
from chalicelib.domain.webhooks.partner_view import MAX_ATTEMPTS_SHOWN
from chalicelib.domain.workflows.workflow import new_test_execution
from chalicelib.outbound.webhook_http import exchange
from chalicelib.outbound.webhook_http.connection import Network
from chalicelib.queues import WEBHOOKS
from chalicelib.services.webhooks import deliveries, send
from chalicelib.services.webhooks.circuit_breaker import OPEN_AFTER_TIMEOUTS, CircuitBreaker
from chalicelib.storage import executions
from chalicelib.storage.executions import ExecutionRow
from tests.aws.faults import before_request
from tests.domain.workflows.factories import URL, action_definition
from tests.services.feedback.submitting import answer_contact_form
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE, WEBHOOK_QUEUE
from tests.services.webhooks.delivering import (
    TIMED_OUT,
    Receiver,
    add_workflow,
    response_with,
    trigger_webhooks,
)
from tests.web.partner_client import Partner, new_partner, with_permissions
from tests.web.seeded_account import SeededAccount, seed_account

PATH = "/partners/webhook-delivery"
WAIT = response_with(503, excerpt="busy", retry_after="21600")


@pytest.fixture
def seeded(client: Client, time: Time, receiver: Receiver) -> SeededAccount:
    return seed_account()


@pytest.fixture
def partner(client: Client, seeded: SeededAccount) -> Partner:
    partner = with_permissions(Partner(client, seeded.account_id))
    partner.get("/partners/account")
    return partner


def call(partner: Partner, name: str, **body: Any) -> Any:
    response = partner.post(f"{PATH}/{name}", body)
    assert response.status == 201, response.body
    return response.json


def deliver(account_id: str) -> None:
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(account_id))


def failed_delivery(
    partner: Partner, seeded: SeededAccount, receiver: Receiver, **action: Any
) -> dict[str, Any]:
    """Trigger a webhook whose first attempt fails, and return its delivery."""
    add_workflow(seeded.account_id, action_definition(key="crm", **action), name="CRM")
    receiver.responses = [WAIT]
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    (delivery,) = call(partner, "list")["items"]
    result: dict[str, Any] = delivery
    return result


def add_execution(account_id: str, state: ExecutionState, at: timedelta, *action: str) -> str:
    """Store an execution that was created at a time from now and ended in this state.

    Args:
        action: the ids of the workflow and the action. Default: unknown ids.
    """
    now = clock.now() + at
    workflow_id, action_id = action or (new_id(), new_id())
    execution = Execution(
        new_id(), account_id, workflow_id, action_id, new_id(), b"{}", ExecutionState.PENDING, now
    )
    executions.create([execution])
    if state is not ExecutionState.PENDING:
        attempt(execution.pointer, now, Outcome(state))
    return execution.id


def add_waiting(account_id: str) -> ExecutionPointer:
    """Store an execution that waits for a day after its first attempt."""
    added = add_execution(account_id, ExecutionState.PENDING, timedelta(0))
    pointer, now = ExecutionRow.get(added, executions.PART).pointer(clock.now()), clock.now()
    attempt(pointer, now, Outcome(ExecutionState.PENDING, retry_at=now + timedelta(days=1)))
    return pointer


def attempt(pointer: ExecutionPointer, now: datetime, outcome: Outcome) -> None:
    claimed = executions.claim(pointer, now)
    assert claimed
    assert executions.save_outcome(claimed, [Attempt(1, now, status=501)], outcome, now)


def results_of(response: Any) -> dict[str, str]:
    return {item["id"]: item["result"] for item in response["items"]}


# --- reading


def test_delivery_shows_each_attempt_and_the_next_one(
    partner: Partner, seeded: SeededAccount, receiver: Receiver, time: Time
) -> None:
    delivery = failed_delivery(partner, seeded, receiver)
    (request,) = receiver.requests
    with counted_calls() as calls:
        response = partner.get(f"{PATH}?id={delivery['id']}")
    assert dict(calls) == {"dynamodb.Query": 1}
    details = response.json
    (attempt,) = details.pop("attempts")
    at = attempt.pop("at")
    assert attempt == {
        "status": 503,
        "error": "",
        "durationMs": 12,
        "responseExcerpt": "busy",
        "ambiguous": False,
    }
    assert details == delivery
    assert delivery["id"] == request.execution_id
    assert delivery["createdAt"] <= at < delivery["nextAttemptAt"]
    assert delivery["nextAttemptAt"] > format_timestamp(clock.now() + timedelta(hours=5))
    assert (delivery["workflow"]["name"], delivery["action"]["key"]) == ("CRM", "crm")
    known = ("state", "reason", "attemptCount", "lastStatus", "test")
    assert [delivery[name] for name in known] == [
        "PENDING",
        "response status 503",
        1,
        503,
        False,
    ]
    feedback = partner.get(f"/partners/feedback?id={delivery['feedbackId']}")
    assert feedback.status == 200


def test_delivery_shows_last_hundred_attempts(partner: Partner) -> None:
    long = add_execution(partner.account_id, ExecutionState.FAILED, timedelta(0))
    for number in range(2, MAX_ATTEMPTS_SHOWN + 2):
        part, status = executions._attempt_part(number), 500 + number
        ExecutionRow(long, part, at=clock.now(), status=status).save()
    attempts = partner.get(f"{PATH}?id={long}").json["attempts"]
    assert [attempt["status"] for attempt in attempts] == list(range(502, 602))


def test_removed_workflow_leaves_names_empty(partner: Partner) -> None:
    stored = add_execution(partner.account_id, ExecutionState.STOPPED, timedelta(0))
    delivery = partner.get(f"{PATH}?id={stored}").json
    assert (delivery["workflow"]["name"], delivery["action"]["key"]) == ("", "")
    assert delivery["nextAttemptAt"] is None


def test_deliveries_of_other_accounts_are_invisible(
    client: Client, partner: Partner, seeded: SeededAccount, receiver: Receiver
) -> None:
    delivery, other = failed_delivery(partner, seeded, receiver), new_partner(client)
    assert other.get(f"{PATH}?id={delivery['id']}").status == 404
    assert partner.get(f"{PATH}?id={new_id()}").status == 404
    assert call(other, "list")["items"] == []
    replayed = call(other, "replay", ids=[delivery["id"]])
    assert results_of(replayed) == {delivery["id"]: "NOT_FOUND"}
    created_since = format_timestamp(clock.now() - timedelta(days=1))
    assert call(other, "replay", state="PENDING", createdSince=created_since)["items"] == []
    ids = {"workflowId": delivery["workflow"]["id"], "actionId": delivery["action"]["id"]}
    assert other.post(f"{PATH}/test", ids).status == 404
    assert call(partner, "list")["items"] == [delivery]


# --- listing


def test_pages_contain_each_delivery_once_newest_first(partner: Partner) -> None:
    # Deliveries of one feedback are created at the same time.
    hours = (3, 3, 3, 3, 3, 3, 2, 2, 1)
    stored = {
        add_execution(partner.account_id, ExecutionState.PENDING, timedelta(hours=-hour))
        for hour in hours
    }
    listed: list[dict[str, Any]] = []
    cursor = None
    while True:
        with counted_calls() as calls:
            page = call(partner, "list", limit=2, cursor=cursor)
        assert calls.total() <= 6
        assert page["meta"]["itemCount"] == len(page["items"])
        assert page["meta"]["hasMore"] is (page["meta"]["cursor"] is not None)
        listed += page["items"]
        cursor = page["meta"]["cursor"]
        if cursor is None:
            break
    assert len(listed) == len(stored)
    assert {delivery["id"] for delivery in listed} == stored
    assert all(a["createdAt"] >= b["createdAt"] for a, b in pairwise(listed))


def test_filters_select_state_and_period(partner: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
    now, account = clock.now(), partner.account_id
    states = (ExecutionState.FAILED, ExecutionState.SUCCEEDED, ExecutionState.FAILED)
    old, delivered, recent = (
        add_execution(account, state, timedelta(hours=hour))
        for state, hour in zip(states, (-3, -2, -1), strict=True)
    )

    def listed(**filters: Any) -> list[str]:
        found, cursor = [], None
        for _ in range(4):
            page = call(partner, "list", **filters, cursor=cursor)
            found += [item["id"] for item in page["items"]]
            cursor = page["meta"]["cursor"]
            if cursor is None:
                return found
        raise AssertionError("The list does not end.")

    created = partner.get(f"{PATH}?id={delivered}").json["createdAt"]
    assert listed(state="FAILED") == [recent, old]
    assert listed(createdSince=created) == [recent, delivered]
    assert listed(createdUntil=created) == [old]
    assert listed(createdUntil=created, limit=1) == [old]
    assert listed(createdSince=format_timestamp(now)) == []
    monkeypatch.setattr(deliveries, "MAX_EXAMINED", 1)
    assert listed(state="FAILED") == [recent, old]


def test_list_shows_current_state_if_the_index_is_older(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = add_execution(partner.account_id, ExecutionState.FAILED, timedelta(hours=-1))
    before = list(executions.newest_first(partner.account_id))
    call(partner, "replay", ids=[stored])
    monkeypatch.setattr(executions, "newest_first", lambda *_args, **_kwargs: iter(before))
    assert call(partner, "list", state="FAILED")["items"] == []
    (item,) = call(partner, "list")["items"]
    assert item["state"] == "PENDING"


def test_invalid_requests_are_rejected(partner: Partner) -> None:
    one, at = new_id(), "2026-11-20T10:00:00Z"
    cursor = call_list_cursor(partner)
    for name, body, error in [
        ("list", {"limit": 0}, ("/limit", "out_of_range")),
        ("list", {"limit": 101}, ("/limit", "out_of_range")),
        ("list", {"state": "OTHER"}, ("/state", "not_allowed")),
        ("list", {"createdSince": at, "createdUntil": at}, ("/createdUntil", "out_of_range")),
        ("list", {"cursor": cursor, "state": "FAILED"}, ("/cursor", "invalid_cursor")),
        ("replay", {}, ("", "invalid_combination")),
        ("replay", {"ids": []}, ("/ids", "too_few")),
        ("replay", {"ids": [one] * 101}, ("/ids", "too_many")),
        ("replay", {"ids": [one], "state": "FAILED"}, ("", "invalid_combination")),
        ("replay", {"state": "FAILED"}, ("", "invalid_combination")),
        ("replay", {"createdSince": at}, ("", "invalid_combination")),
        ("replay", {"state": "SUCCEEDED", "createdSince": at}, ("/state", "not_allowed")),
        ("test", {"workflowId": one}, ("/actionId", "required")),
    ]:
        assert partner.post(f"{PATH}/{name}", body).errors == [error], body
    for name, body in [("list", {"limit": 100}), ("replay", {"ids": [one] * 100})]:
        assert partner.post(f"{PATH}/{name}", body).status == 201


def call_list_cursor(partner: Partner) -> str:
    for hour in (1, 2):
        add_execution(partner.account_id, ExecutionState.PENDING, timedelta(hours=-hour))
    cursor: str = call(partner, "list", limit=1)["meta"]["cursor"]
    return cursor


# --- replaying


def test_waiting_delivery_is_due_at_once_and_delivered_once(
    partner: Partner, seeded: SeededAccount, receiver: Receiver
) -> None:
    delivery = failed_delivery(partner, seeded, receiver)
    receiver.responses = [response_with(200)]
    with counted_calls() as calls:
        first = call(partner, "replay", ids=[delivery["id"], delivery["id"].upper()])
    assert calls.total() <= 4
    assert results_of(first) == {delivery["id"]: "REPLAYED"}
    assert results_of(call(partner, "replay", ids=[delivery["id"]])) == {delivery["id"]: "DUE"}
    due = partner.get(f"{PATH}?id={delivery['id']}").json
    assert due["nextAttemptAt"] <= format_timestamp(clock.now())
    deliver(seeded.account_id)
    again = call(partner, "replay", ids=[delivery["id"]])
    assert results_of(again) == {delivery["id"]: "SUCCEEDED"}
    deliver(seeded.account_id)
    assert len(receiver.requests) == 2
    assert partner.get(f"{PATH}?id={delivery['id']}").json["attemptCount"] == 2


def test_replay_of_state_continues_with_cursor(partner: Partner) -> None:
    failed = {
        add_execution(partner.account_id, ExecutionState.FAILED, timedelta(hours=-hour))
        for hour in (1, 1, 2, 3, 4)
    }
    add_execution(partner.account_id, ExecutionState.FAILED, timedelta(days=-2))
    add_execution(partner.account_id, ExecutionState.SUCCEEDED, timedelta(hours=-1))
    selection = {
        "state": "FAILED",
        "limit": 2,
        "createdSince": format_timestamp(clock.now() - timedelta(days=1)),
    }
    replayed: list[str] = []
    meta = {"cursor": None, "hasMore": True}
    while meta["hasMore"]:
        page = call(partner, "replay", **selection, cursor=meta["cursor"])
        assert set(results_of(page).values()) <= {"REPLAYED"}
        replayed += results_of(page)
        meta = page["meta"]
    assert sorted(replayed) == sorted(failed)
    assert call(partner, "replay", **selection)["items"] == []


def test_replay_sends_four_requests_and_one_more_for_each_further_ten(partner: Partner) -> None:
    ids = [
        add_execution(partner.account_id, ExecutionState.FAILED, timedelta(hours=-1))
        for _ in range(11)
    ]
    with counted_calls() as calls:
        response = call(partner, "replay", ids=ids)
    calls.pop("sqs.GetQueueUrl", None)  # sent once by a cold function
    assert dict(calls) == {
        "dynamodb.BatchGetItem": 1,
        "dynamodb.UpdateItem": 1,
        "dynamodb.TransactWriteItems": 1,
        "sqs.SendMessageBatch": 2,
    }
    assert set(results_of(response).values()) == {"REPLAYED"}


@pytest.mark.parametrize("waits", [False, True])
def test_replay_of_delivery_that_another_request_replays_is_due(
    partner: Partner, waits: bool
) -> None:
    first, second = (
        add_waiting(partner.account_id).execution_id
        if waits
        else add_execution(partner.account_id, ExecutionState.FAILED, timedelta(hours=-1))
        for _ in range(2)
    )
    with before_request("TransactWriteItems", lambda: deliveries.replay_executions([first])):
        response = call(partner, "replay", ids=[first, second])
    assert results_of(response) == {first: "DUE", second: "REPLAYED"}


def test_replay_keeps_claim_of_worker_whose_clock_is_ahead(partner: Partner) -> None:
    first, second = (add_waiting(partner.account_id) for _ in range(2))
    later = clock.now() + timedelta(days=2)
    with before_request("TransactWriteItems", lambda: executions.claim(first, later)):
        response = call(partner, "replay", ids=[first.execution_id, second.execution_id])
    assert results_of(response)[first.execution_id] == "DUE"
    assert ExecutionRow.get(first.execution_id, executions.PART).leased_until


def test_replay_obeys_the_limits_of_receivers_and_the_rules_of_addresses(
    partner: Partner, seeded: SeededAccount, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery = failed_delivery(partner, seeded, receiver, attempts=1)
    assert delivery["state"] == "FAILED"
    monkeypatch.setattr(send, "circuit_breaker", CircuitBreaker())
    for _ in range(OPEN_AFTER_TIMEOUTS):
        send.circuit_breaker.record_result(
            seeded.account_id, urlsplit(URL).netloc, clock.now(), timed_out=True
        )
    call(partner, "replay", ids=[delivery["id"]])
    deliver(seeded.account_id)
    assert len(receiver.requests) == 1
    send.circuit_breaker.close_all()
    private = Network(resolve=lambda _host, _port: [ip_address("10.0.0.1")])
    monkeypatch.setattr(
        send, "post", lambda *a, **_: exchange.post(*a, allow_private=False, network=private)
    )
    call(partner, "replay", ids=[delivery["id"]])
    deliver(seeded.account_id)
    details = partner.get(f"{PATH}?id={delivery['id']}").json
    assert details["attempts"][-1]["error"] == "10.0.0.1 is not public"
    assert (details["lastStatus"], details["attemptCount"]) == (None, 2)


def add_failed(partner: Partner, count: int, *action: str) -> list[str]:
    return [
        add_execution(
            partner.account_id, ExecutionState.FAILED, timedelta(minutes=-minute), *action
        )
        for minute in range(1, count + 1)
    ]


@pytest.fixture
def minute(time: Time, monkeypatch: pytest.MonkeyPatch) -> Time:
    """Start a minute in which an account can replay three deliveries."""
    monkeypatch.setattr(deliveries, "MAX_REPLAYS", 3)
    time.ahead = timedelta(seconds=60 - clock.now().second)
    return time


def test_replay_of_ids_is_limited_per_account_and_minute(
    client: Client, partner: Partner, minute: Time
) -> None:
    ids = add_failed(partner, 5)
    delivered = add_execution(partner.account_id, ExecutionState.SUCCEEDED, timedelta(hours=-1))
    first = results_of(call(partner, "replay", ids=[delivered, *ids[:2]]))
    assert list(first.values()) == ["SUCCEEDED", "REPLAYED", "REPLAYED"]
    second = results_of(call(partner, "replay", ids=ids))
    assert list(second.values()) == ["DUE", "DUE", "REPLAYED", "LIMITED", "LIMITED"]
    rejected = partner.post(f"{PATH}/replay", {"ids": ids[3:]})
    assert (rejected.status, 1 <= int(rejected.headers["retry-after"]) <= 60) == (429, True)
    other = new_partner(client)
    results = results_of(call(other, "replay", ids=add_failed(other, 3)))
    assert set(results.values()) == {"REPLAYED"}
    assert results_of(call(partner, "replay", ids=[delivered])) == {delivered: "SUCCEEDED"}
    minute.ahead += timedelta(minutes=1)
    assert set(results_of(call(partner, "replay", ids=ids[3:])).values()) == {"REPLAYED"}


def test_replay_of_state_continues_after_the_limit_with_its_cursor(
    partner: Partner, minute: Time
) -> None:
    ids = add_failed(partner, 5)
    selection = {
        "state": "FAILED",
        "createdSince": format_timestamp(clock.now() - timedelta(days=1)),
    }
    page = call(partner, "replay", **selection)
    assert results_of(page) == dict.fromkeys(ids[:3], "REPLAYED")
    assert page["meta"]["hasMore"] is True
    selection["cursor"] = page["meta"]["cursor"]
    assert partner.post(f"{PATH}/replay", selection).status == 429
    minute.ahead += timedelta(minutes=1)
    page = call(partner, "replay", **selection)
    assert results_of(page) == dict.fromkeys(ids[3:], "REPLAYED")
    assert page["meta"]["hasMore"] is False


def test_replay_of_operator_is_not_limited(partner: Partner, minute: Time) -> None:
    ids = add_failed(partner, 5)
    assert deliveries.replay_executions(ids) == dict.fromkeys(ids, ReplayResult.REPLAYED)


def queued_in_order() -> list[tuple[str, str]]:
    """Remove all messages from the queue of webhooks. Return their message groups and bodies."""
    sqs, name = sqs_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"], "feedback-test-webhooks"
    queued: list[tuple[str, str]] = []
    while messages := sqs.receive_message(name, 10, 0, 30):
        for message in messages:
            queued.append((message.group_id, message.body))
            sqs.delete_message(name, message.receipt_handle)
    return queued


def test_replays_to_a_receiver_that_times_out_delay_other_accounts_by_one_attempt(
    partner: Partner, seeded: SeededAccount, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "circuit_breaker", CircuitBreaker())
    workflow = add_workflow(seeded.account_id)
    ids = add_failed(partner, 40, workflow.id, workflow.actions[0].id)
    queued_in_order()
    call(partner, "replay", ids=ids)
    other = seed_account()
    add_workflow(other.account_id)
    receiver.responses = [TIMED_OUT]
    answer_contact_form(other)
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(other.account_id))
    queued = queued_in_order()
    # SQS shares the capacity of the queue between the message groups. This test has no sharing.
    assert [group for group, _ in queued] == [seeded.account_id] * 40 + [other.account_id]
    rounds = 0
    for batch in in_groups([body for _, body in queued], WEBHOOKS.batch_size):
        sent = len(receiver.requests)
        WEBHOOK_QUEUE.deliver(batch)
        rounds += len(receiver.requests) > sent
    assert receiver.requests[-1].execution_id not in ids
    assert rounds == 2, "one for the replays and one for the other account"


def test_replays_of_a_minute_occupy_all_invocations_for_at_most_two_attempts() -> None:
    invocations = deliveries.MAX_REPLAYS / WEBHOOKS.batch_size
    assert invocations / WEBHOOKS.max_concurrency <= 2


# --- testing


@pytest.mark.parametrize("by_ids", [True, False])
def test_test_is_never_replayed(
    partner: Partner, seeded: SeededAccount, receiver: Receiver, by_ids: bool
) -> None:
    workflow = add_workflow(seeded.account_id)
    receiver.responses = [WAIT]
    test = call(partner, "test", workflowId=workflow.id, actionId=workflow.actions[0].id)["id"]
    deliver(seeded.account_id)
    since = format_timestamp(clock.now() - timedelta(days=1))
    selection = {"ids": [test]} if by_ids else {"state": "FAILED", "createdSince": since}
    replayed = call(partner, "replay", **selection)
    assert results_of(replayed) == ({test: "TEST"} if by_ids else {})
    assert deliveries.replay_executions([test]) == {test: ReplayResult.TEST}
    deliver(seeded.account_id)
    assert len(receiver.requests) == 1


def test_parked_test_is_not_sent_again(
    partner: Partner, seeded: SeededAccount, receiver: Receiver
) -> None:
    workflow = add_workflow(seeded.account_id)
    test = call(partner, "test", workflowId=workflow.id, actionId=workflow.actions[0].id)["id"]
    deliver(seeded.account_id)
    row = executions.ExecutionRow.get(test, executions.PART)
    row.set_aside(clock.now())
    row.save()
    replay_parked_work(test)
    deliver(seeded.account_id)
    assert len(receiver.requests) == 1
    assert partner.get(f"{PATH}?id={test}").json["state"] == "FAILED"


@pytest.mark.parametrize("is_enabled", [True, False])
def test_test_is_sent_once_also_if_workflow_is_disabled(
    partner: Partner, seeded: SeededAccount, receiver: Receiver, is_enabled: bool
) -> None:
    action = action_definition(headers={"x-service-webhook-test": "no"})
    workflow = add_workflow(seeded.account_id, action)
    if not is_enabled:
        set_workflow_enabled(seeded.account_id, workflow.id, enabled=False)
    receiver.responses = [WAIT]
    body = {"workflowId": workflow.id, "actionId": workflow.actions[0].id}
    call(partner, "replay", ids=[new_id()])  # a warm function has the address of the queue
    with counted_calls() as calls:
        test = call(partner, "test", **body)
    assert calls.total() <= 5
    assert (test["test"], test["feedbackId"], test["state"]) == (True, TEST_FEEDBACK_ID, "PENDING")
    deliver(seeded.account_id)
    (request,) = receiver.requests
    assert request.execution_id == test["id"]
    assert request.headers["X-Service-Webhook-Test"] == "true"
    assert json.loads(request.body)["feedback"]["id"] == TEST_FEEDBACK_ID
    ended = partner.get(f"{PATH}?id={test['id']}").json
    assert (ended["state"], ended["attemptCount"], ended["lastStatus"]) == ("FAILED", 1, 503)
    assert [each["id"] for each in call(partner, "list", state="FAILED")["items"]] == [test["id"]]


def test_failed_test_does_not_count_for_the_alarm_of_operators(seeded: SeededAccount) -> None:
    workflow = add_workflow(seeded.account_id, action_definition(attempts=1))
    assert send.ExecutionOutcome.TEST_FAILED.metrics == ()
    execution = new_test_execution(
        seeded.account_id, workflow, workflow.actions[0], new_id(), clock.now()
    )
    executions.create([execution])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(send, "post", Receiver([response_with(500)]).post)
        assert send.send_webhook(execution.pointer) is send.ExecutionOutcome.TEST_FAILED


def test_repeated_test_with_the_same_key_is_sent_once(
    partner: Partner, seeded: SeededAccount, receiver: Receiver
) -> None:
    workflow = add_workflow(
        seeded.account_id, action_definition(key="a"), action_definition(key="b")
    )
    first, second = ({"workflowId": workflow.id, "actionId": a.id} for a in workflow.actions)
    header = {"Idempotency-Key": "one"}
    test = partner.post(f"{PATH}/test", first, header).json
    deliver(seeded.account_id)
    repeated = partner.post(f"{PATH}/test", first, header)
    assert (repeated.status, repeated.json["id"]) == (201, test["id"])
    assert (repeated.json["state"], repeated.json["lastStatus"]) == ("SUCCEEDED", 200)
    deliver(seeded.account_id)
    assert len(receiver.requests) == 1
    assert partner.post(f"{PATH}/test", second, header).status == 422
    assert call(partner, "test", **first)["id"] != test["id"]


def test_ten_tests_a_minute_are_allowed(
    partner: Partner, seeded: SeededAccount, time: Time
) -> None:
    workflow = add_workflow(seeded.account_id)
    body = {"workflowId": workflow.id, "actionId": workflow.actions[0].id}
    time.ahead = timedelta(seconds=60 - clock.now().second)  # a minute starts
    for _ in range(deliveries.MAX_TESTS):
        call(partner, "test", **body)
    rejected = partner.post(f"{PATH}/test", body)
    assert (rejected.status, 1 <= int(rejected.headers["retry-after"]) <= 60) == (429, True)
    time.ahead += timedelta(minutes=1)
    call(partner, "test", **body)
    for wrong in ({"workflowId": new_id()}, {"actionId": new_id()}):
        assert partner.post(f"{PATH}/test", body | wrong).status == 404
