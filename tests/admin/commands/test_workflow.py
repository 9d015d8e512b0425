"""Tests of ``workflow``, ``delivery`` and ``webhook-secret``, and of loading workflows."""

import json
import re
from base64 import b64encode
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from admin.domain.workflows.definition import build_workflow, parse_workflow_definition
from admin.services.webhooks import send_example
from admin.services.webhooks.secret import signing_webhook_secrets
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.workflows.workflow import reactions
from chalicelib.outbound.webhook_http.exchange import WebhookResponse
from chalicelib.storage import workflows
from infrastructure.demo.ids import demo_id
from infrastructure.demo.workflows import main_workflows
from tests.admin.command import new_account, run
from tests.domain.workflows.factories import URL, action_definition, feedback, workflow_definition
from tests.services.moved_time import Time
from tests.services.queues import WEBHOOK_QUEUE
from tests.services.webhooks.delivering import (
    Receiver,
    add_workflow,
    executions_of,
    response_with,
    trigger_webhooks,
)
from tests.web.seeded_account import seed_account

pytestmark = pytest.mark.usefixtures("cloud")


def load(path: Path, account: str, *definitions: dict[str, Any]) -> Any:
    file = path / "workflows.json"
    file.write_text(json.dumps([{"kind": "workflow", **workflow} for workflow in definitions]))
    return run("definition", "load", "--yes", file, "--account", account)


def test_workflow_commands_load_list_disable_and_enable_workflow(tmp_path: Path) -> None:
    account = new_account()
    definition = workflow_definition(name="Tell the CRM")
    assert load(tmp_path, account, definition).stdout.strip() == "Loaded: 1 workflow"
    assert "Tell the CRM" in run("workflow", "list", account).output
    listed = "".join(run("workflow", "list", account, "--wide").output.split())
    assert URL in listed
    assert run("workflow", "disable", account, definition["id"]).exit_code == 0
    assert [workflow.enabled for workflow in workflows.list_for_account(account)] == [False]
    assert run("workflow", "enable", account, definition["id"]).exit_code == 0
    assert [workflow.enabled for workflow in workflows.list_for_account(account)] == [True]


def test_invalid_workflow_reports_all_errors(tmp_path: Path) -> None:
    account = new_account()
    actions = [{"key": "a", "url": "http://10.0.0.1/"}, {"key": "a", "url": URL}]
    result = load(tmp_path, account, workflow_definition(actions=actions))
    assert result.exit_code == 1
    assert "/actions/0/url" in result.stderr
    assert "/actions/1/key" in result.stderr
    assert workflows.list_for_account(account) == ()


def test_workflow_command_reports_unknown_workflow() -> None:
    result = run("workflow", "enable", new_account(), new_id())
    assert (result.exit_code, "no workflow" in result.stderr) == (1, True)


def test_workflow_test_sends_example_webhook_and_prints_response(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    account = new_account()
    workflow = add_workflow(account)
    receiver = Receiver([response_with(202, excerpt="thanks")])
    monkeypatch.setattr(send_example, "post", receiver.post)
    result = run("workflow", "test", account, workflow.id)
    (request,) = receiver.requests
    assert request.headers["X-Service-Webhook-Test"] == "true"
    for shown in (f"POST {URL}", request.body.decode(), "status 202", "thanks"):
        assert shown in result.stdout
    receiver.responses = [WebhookResponse(1, was_sent=False, detail="Nobody there.")]
    result = run("workflow", "test", account, workflow.id, "--action", "crm")
    assert (result.exit_code, "no response: Nobody there." in result.stdout) == (1, True)


def test_delivery_commands_list_show_and_replay_execution(receiver: Receiver, time: Time) -> None:
    seeded = seed_account()
    add_workflow(seeded.account_id)
    receiver.responses = [response_with(410, excerpt="no more"), response_with(200)]
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    (row,) = executions_of(seeded.account_id)
    listed = run("delivery", "list", seeded.account_id, "--state", "stopped").stdout
    assert row.execution_id in "".join(listed.split())
    assert "STOPPED" in listed
    wide = run("delivery", "list", seeded.account_id, "--state", "stopped", "--wide").stdout
    assert "Everything / crm" in wide
    assert run("delivery", "list", new_id()).exit_code == 1
    shown = run("delivery", "show", row.execution_id).stdout
    for part in ("STOPPED", "410", "no more", "workflow.action.webhook", "Everything / crm"):
        assert part in shown
    unknown = new_id()
    result = run("delivery", "replay", unknown, row.execution_id, row.execution_id)
    assert result.exit_code == 1
    assert result.stderr.strip().splitlines() == [
        f"{unknown}: There is no delivery with this id.",
        "Requeued: 1.",
    ]
    due = run("delivery", "replay", row.execution_id)
    assert (due.exit_code, "An attempt is due" in due.stderr) == (1, True)
    assert run("delivery", "show", new_id()).exit_code == 1


def test_delivery_list_and_show_send_number_of_aws_requests_in_help(
    receiver: Receiver, time: Time
) -> None:
    seeded = seed_account()
    add_workflow(seeded.account_id)
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    (row,) = executions_of(seeded.account_id)
    with counted_calls() as calls:
        assert run("delivery", "list", seeded.account_id).exit_code == 0
    assert calls == {"dynamodb.GetItem": 1, "dynamodb.Query": 5}
    assert "Cost: six AWS requests." in run("delivery", "list", "--help").stdout
    with counted_calls() as calls:
        assert run("delivery", "show", row.execution_id).exit_code == 0
    assert calls.total() == 3
    assert "Cost: three AWS requests." in run("delivery", "show", "--help").stdout


def test_delivery_replay_selects_failed_and_waiting_deliveries(
    receiver: Receiver, time: Time
) -> None:
    failing, other = seed_account(), seed_account()
    receiver.responses = [response_with(500, retry_after="21600")]
    for seeded in (failing, other):
        add_workflow(seeded.account_id, action_definition(), action_definition(key="b", attempts=1))
        WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    states = Counter(row.state for row in executions_of(failing.account_id))
    assert states == {"PENDING": 1, "FAILED": 1}
    receiver.responses = [response_with(200)]
    for state in ("failed", "pending"):
        since = format_timestamp(clock.now() + timedelta(minutes=1))
        late = run("delivery", "replay", "--state", state, "--since", since)
        assert late.stderr.strip() == "Requeued: 0."
        result = run("delivery", "replay", "--state", state, "--account", failing.account_id)
        assert (result.exit_code, result.stderr.strip()) == (0, "Requeued: 1.")
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(failing.account_id))
    assert {row.state for row in executions_of(failing.account_id)} == {"SUCCEEDED"}
    assert run("delivery", "replay", "--state", "pending").exit_code == 0  # of all accounts
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(other.account_id))
    states = Counter(row.state for row in executions_of(other.account_id))
    assert states == {"SUCCEEDED": 1, "FAILED": 1}
    id_of_other = executions_of(other.account_id)[0].execution_id
    for wrong in (
        ("--state", "succeeded"),
        (id_of_other, "--state", "failed"),
        (id_of_other, "--account", other.account_id),
        ("--account", other.account_id),
        ("nope",),
        (),
    ):
        assert run("delivery", "replay", *wrong).exit_code == 2


def test_pending_delivery_is_shown_with_its_due_time(receiver: Receiver, time: Time) -> None:
    seeded = seed_account()
    add_workflow(seeded.account_id)
    receiver.responses = [response_with(500, retry_after="3600")]
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    (row,) = executions_of(seeded.account_id)
    due = f"{datetime.fromtimestamp(int(row.due_at), UTC):%Y-%m-%d %H:%M}"
    assert re.search(rf"Due +{due}", run("delivery", "show", row.execution_id).stdout)


def rotated(account: str, *options: str) -> Any:
    return run("webhook-secret", "rotate", account, "--yes", *options)


def test_webhook_secret_is_printed_in_both_forms() -> None:
    account = new_account()
    lines = rotated(account).stdout.splitlines()
    secret, standard = (line.split(": ")[1] for line in lines)
    assert standard == f"whsec_{b64encode(secret.encode()).decode()}"
    shown = json.loads(rotated(account, "--json").stdout)
    assert shown["standardSecret"] == f"whsec_{b64encode(shown['secret'].encode()).decode()}"


def test_webhook_secret_becomes_active_at_its_start_time() -> None:
    account = new_account()
    first = rotated(account).stdout.splitlines()[0].removeprefix("Secret: ")
    at = clock.now() + timedelta(hours=1)
    second = json.loads(rotated(account, "--at", at.isoformat(), "--json").stdout)["secret"]
    assert signing_webhook_secrets(account, clock.now())[0] == first
    assert signing_webhook_secrets(account, at)[0] == second
    assert run("webhook-secret", "rotate", account, "--at", "soon").exit_code == 2
    past = (clock.now() - timedelta(seconds=1)).isoformat()
    assert rotated(account, "--at", past).exit_code == 1
    assert signing_webhook_secrets(account, clock.now())[0] == first
    assert rotated(new_id()).exit_code == 1


def test_new_webhook_secret_replaces_scheduled_secrets() -> None:
    account = new_account()
    rotated(account)
    for hours in (1, 2):
        at = clock.now() + timedelta(hours=hours)
        planned = rotated(account, "--at", at.isoformat())
        assert ("Replaced secrets" in planned.stderr) == (hours == 2)
    emergency = rotated(account, "--json")
    assert "Replaced secrets" in emergency.stderr
    for hours in (0, 1, 2, 3):
        later = clock.now() + timedelta(hours=hours)
        assert signing_webhook_secrets(account, later)[0] == json.loads(emergency.stdout)["secret"]


def test_feedback_on_public_demo_forms_starts_demo_workflows() -> None:
    saved_workflows = [
        build_workflow(parse_workflow_definition(definition, allow_private=True), clock.now())
        for definition in main_workflows("http://127.0.0.1:8080/webhooks")
    ]
    for kind, form in (("SURVEY", "survey visit"), ("CONTACT_FORM", "contact-form lumen")):
        submitted = feedback(kind=kind, form_id=demo_id(form))
        assert len(list(reactions(saved_workflows, submitted))) == 1
