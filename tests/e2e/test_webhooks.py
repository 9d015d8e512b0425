"""Tests of webhook delivery, including tests that kill the receiver and the functions."""

import base64
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.webhooks.signature import verify
from chalicelib.queues import WEBHOOKS
from tests.e2e.admin import admin
from tests.e2e.cloud import Cloud
from tests.e2e.public_forms import PublicForms, wait_until
from tests.e2e.queue_settings import few_processes
from tests.e2e.receiver_process import ReceiverProcess, free_port
from tests.e2e.sweeping import sweep

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
FEEDBACKS = int(os.environ.get("WEBHOOK_FEEDBACKS") or 60)
ACTIONS = 3
MAX_WAIT_S = 900  # an attempt of a killed function is retried only after its lease ends


@dataclass(frozen=True)
class Tenant:
    """An account with a public survey and a workflow."""

    id: str
    survey_id: str
    field_id: str
    secret: str
    http: httpx.Client

    def submit(self, _: int = 0) -> None:
        fields = json.dumps([{"id": self.field_id, "values": ["9"]}])
        files = {"id": (None, self.survey_id), "fields": (None, fields)}
        headers = {"Idempotency-Key": os.urandom(12).hex()}
        for _ in range(20):
            try:
                response = self.http.post("/public/survey/submit", files=files, headers=headers)
            except httpx.TransportError:
                continue
            if response.status_code == 201:
                return
            assert response.status_code >= 500, response.text
            time.sleep(1)
        raise AssertionError("The submission was not accepted.")


def tenant(cloud: Cloud, folder: Path, *urls: str) -> Tenant:
    account = re.findall(r"[0-9a-f-]{36}", admin(cloud, "account", "create", "Webhook test"))[-1]
    brand, survey, field = new_id(), new_id(), new_id()
    documents = [
        {"kind": "brand", "id": brand, "name": "Brand"},
        {
            "kind": "survey",
            "id": survey,
            "name": "Survey",
            "language": "en",
            "publiclyAvailable": True,
            "fields": [{"id": field, "key": "nps", "type": "NPS"}],
            "targets": [{"type": "BRAND", "targetId": brand}],
        },
        {
            "kind": "workflow",
            "id": new_id(),
            "name": "All of it",
            "actions": [{"key": f"a{n}", "url": url} for n, url in enumerate(urls)],
        },
    ]
    file = folder / f"{account}.json"
    file.write_text(json.dumps(documents))
    admin(cloud, "definition", "load", "--yes", str(file), "--account", account)
    secret = admin(cloud, "webhook-secret", "rotate", account, "--yes")
    return Tenant(account, survey, field, secret, cloud.http)


def executions(cloud: Cloud, account: str) -> list[dict[str, Any]]:
    paginator = cloud.client("dynamodb").get_paginator("query")
    pages = [
        page
        for shard in range(4)
        for page in paginator.paginate(
            TableName=cloud.resource_name("executions"),
            IndexName="by_account_shard",
            KeyConditionExpression="account_shard = :s",
            ExpressionAttributeValues={":s": {"S": f"{account}#{shard}"}},
        )
    ]
    return [
        {name: next(iter(value.values())) for name, value in item.items()}
        for page in pages
        for item in page["Items"]
    ]


def rows_of(cloud: Cloud, execution_id: str) -> list[dict[str, Any]]:
    response = cloud.client("dynamodb").query(
        TableName=cloud.resource_name("executions"),
        KeyConditionExpression="execution_id = :e",
        ExpressionAttributeValues={":e": {"S": execution_id}},
    )
    return [{n: next(iter(v.values())) for n, v in item.items()} for item in response["Items"]]


def sweep_ahead_of_time(cloud: Cloud, rows: list[dict[str, Any]], *, stalled: bool) -> None:
    """Make pending executions due, so that retries do not wait for their delays, then run a sweep.

    Args:
        stalled: whether to make stalled executions due as well. A stalled execution waits for no
            retry: its queue message was lost because a function was killed.
    """
    table = cloud.client("dynamodb")
    is_due = "attribute_exists(account_id)" if stalled else "not_before > :now"
    for row in rows:
        with contextlib.suppress(table.exceptions.ConditionalCheckFailedException):
            table.update_item(
                TableName=cloud.resource_name("executions"),
                Key={"execution_id": {"S": row["execution_id"]}, "part": {"S": "execution"}},
                UpdateExpression="SET not_before = :now, due_at = :now",
                ConditionExpression=f"#state = :pending AND {is_due} AND "
                "attribute_not_exists(leased_until)",
                ExpressionAttributeNames={"#state": "state"},
                ExpressionAttributeValues={
                    ":now": {"N": str(int(time.time()) - 1)},
                    ":pending": {"S": "PENDING"},
                },
            )
    sweep(cloud, minutes_ahead=0)


@pytest.mark.parametrize("kind", ["survey", "contact-form"])
def test_submission_sends_verified_webhook_to_demo_receiver(forms: PublicForms, kind: str) -> None:
    cloud = forms.cloud
    form_id = cloud.demo["surveyId" if kind == "survey" else "contactFormId"]
    received = cloud.folder / "webhooks.jsonl"
    before = len(received.read_text().splitlines()) if received.exists() else 0
    fields = json.dumps(forms.answers(forms.view(kind, form_id)))
    files = {"id": (None, form_id), "fields": (None, fields)}
    assert cloud.http.post(f"/public/{kind}/submit", files=files).status_code in (201, 204)
    wait_until(lambda: received.exists() and len(received.read_text().splitlines()) > before)
    line = json.loads(received.read_text().splitlines()[before])
    headers = {name.lower(): value for name, value in line["headers"].items()}
    body = base64.b64decode(line["body"])
    assert (line["method"], line["verdict"]) == ("POST", "valid")
    assert headers["user-agent"] == "Service-Workflow-Webhook"
    assert json.loads(body)["event"] == "workflow.action.webhook"
    if kind == "survey":
        assert headers["authorization"] == "Bearer demo"
    stamp = headers["x-service-webhook-timestamp"]
    secret = cloud.demo["webhookSecret"]
    verify(secret, stamp, headers["x-service-webhook-signature"], body, int(stamp))


@pytest.mark.parametrize(
    ("program", "example"),
    [(sys.executable, "webhook_receiver.py"), ("node", "webhook_receiver.mjs")],
)
def test_documented_receiver_accepts_webhook_of_deployed_function(
    cloud: Cloud, tmp_path: Path, program: str, example: str
) -> None:
    port = free_port()
    owner = tenant(cloud, tmp_path, f"http://127.0.0.1:{port}/hook")
    environment = os.environ | {"WEBHOOK_SECRET": owner.secret, "PORT": str(port)}
    with subprocess.Popen(
        [program, EXAMPLES / example], env=environment, stdout=subprocess.PIPE, text=True
    ) as receiver:
        try:
            assert receiver.stdout
            assert receiver.stdout.readline().startswith("listening")
            owner.submit()
            wait_until(
                lambda: [row["state"] for row in executions(cloud, owner.id)] == ["SUCCEEDED"]
            )
            (row,) = executions(cloud, owner.id)
            assert receiver.stdout.readline() == f"All of it {row['feedback_id']}\n"
        finally:
            receiver.terminate()


@pytest.fixture
def few_webhook_processes(cloud: Cloud) -> Iterator[None]:
    """Limit the number of processes, so that a kill interrupts only a part of the webhooks."""
    with few_processes(cloud, WEBHOOKS):
        yield


@pytest.mark.usefixtures("few_webhook_processes")
def test_every_webhook_succeeds_once_despite_killed_processes(
    cloud: Cloud, receiver_process: ReceiverProcess, tmp_path: Path
) -> None:
    owner = tenant(cloud, tmp_path, *(receiver_process.url(f"/flaky/{n}") for n in range(ACTIONS)))
    expected = FEEDBACKS * ACTIONS
    started = time.monotonic()
    killed = 0
    with ThreadPoolExecutor(16) as pool:
        submissions = [pool.submit(owner.submit) for _ in range(FEEDBACKS)]
        for share in (0.15, 0.3, 0.45):
            wait_until(
                lambda share=share: len(receiver_process.lines()) > share * expected, MAX_WAIT_S
            )  # type: ignore[misc]
            if share == 0.3:
                receiver_process.kill_and_restart()
                continue
            for process in cloud.function_processes("send_webhook"):
                os.kill(process, signal.SIGKILL)
                killed += 1
        for submission in submissions:
            submission.result()
    submitted_s = time.monotonic() - started

    before = 0

    def all_ended() -> bool:
        nonlocal before
        rows = executions(cloud, owner.id)
        pending = [row for row in rows if row["state"] == "PENDING"]
        ended = len(rows) - len(pending)
        if ended == expected:
            return True
        sweep_ahead_of_time(cloud, pending, stalled=ended == before)
        before = ended
        time.sleep(4)
        return False

    wait_until(all_ended, MAX_WAIT_S)
    total_s = time.monotonic() - started
    assert killed
    requests_by_id: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in receiver_process.lines():
        requests_by_id[line["id"]].append(line)
        verify(
            owner.secret,
            line["timestamp"],
            line["signature"],
            line["body"].encode(),
            int(line["timestamp"]),
        )
    rows = executions(cloud, owner.id)
    assert Counter(row["state"] for row in rows) == {"SUCCEEDED": expected}
    assert {row["execution_id"] for row in rows} == set(requests_by_id)
    repeated = 0
    for row in rows:
        lines = requests_by_id[row["execution_id"]]
        assert lines[-1]["status"] == 200
        if [line["status"] for line in lines].count(200) == 1:
            continue
        repeated += 1
        *attempts, execution = rows_of(cloud, row["execution_id"])
        assert attempts[-1]["repeat"] is True
        ended = datetime.fromisoformat(execution["ended_at"]).timestamp()
        assert lines[-1]["at"] <= ended
    print(  # noqa: T201 - report measurements
        f"\n{FEEDBACKS} feedbacks, {expected} webhooks: submitted in {submitted_s:.0f} s, all"
        f" delivered after {total_s:.0f} s; {len(receiver_process.lines())} requests,"
        f" {killed} functions and the receiver killed, {repeated} delivered twice, each marked"
    )


def test_unresponsive_receiver_does_not_delay_other_accounts(
    cloud: Cloud, receiver_process: ReceiverProcess, tmp_path: Path
) -> None:
    actions, submissions, deliveries = 3, 30, 5
    silent = tenant(cloud, tmp_path, *[receiver_process.url("/silent")] * actions)
    healthy = tenant(cloud, tmp_path, receiver_process.url("/healthy"))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(silent.submit, range(submissions)))
    wait_until(lambda: "/silent" in receiver_process.paths())
    delays_s = []
    for number in range(1, deliveries + 1):
        submitted = time.time()
        healthy.submit()
        wait_until(lambda number=number: receiver_process.paths().count("/healthy") == number)  # type: ignore[misc]
        delays_s.append(round(receiver_process.lines()[-1]["at"] - submitted, 3))
    lines = receiver_process.lines()
    print(f"\nhealthy webhooks after {delays_s} s")  # noqa: T201 - report measurements
    ended = {line["id"] for line in lines if line["path"] == "/silent/ended"}
    # If accounts were not isolated, every silent webhook would have ended an attempt before the
    # webhooks of the other account were delivered.
    assert len(ended) < actions * submissions
    assert {row["state"] for row in executions(cloud, silent.id)} == {"PENDING"}
    wait_until(
        lambda: (
            [row["state"] for row in executions(cloud, healthy.id)] == ["SUCCEEDED"] * deliveries
        )
    )
    assert {row["attempt"] for row in executions(cloud, healthy.id)} == {"1"}
