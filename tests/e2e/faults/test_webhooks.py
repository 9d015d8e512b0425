"""Tests of webhook delivery."""

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chalicelib.queues import WEBHOOKS
from infrastructure.local_cloud.strict.signature import verify
from tests.e2e.cloud import Cloud
from tests.e2e.public_forms import PublicForms
from tests.e2e.queue_settings import few_processes
from tests.e2e.receiver_process import ReceiverProcess, free_port
from tests.e2e.tenant import create_tenant
from tests.waiting import wait_until

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


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
    owner = create_tenant(cloud, tmp_path, f"http://127.0.0.1:{port}/hook")
    environment = os.environ | {"WEBHOOK_SECRET": owner.secret, "PORT": str(port)}
    with subprocess.Popen(
        [program, EXAMPLES / example], env=environment, stdout=subprocess.PIPE, text=True
    ) as receiver:
        try:
            assert receiver.stdout
            assert receiver.stdout.readline().startswith("listening")
            owner.submit()
            wait_until(lambda: [row["state"] for row in owner.executions()] == ["SUCCEEDED"])
            (row,) = owner.executions()
            assert receiver.stdout.readline() == f"All of it {row['feedback_id']}\n"
        finally:
            receiver.terminate()


@pytest.fixture
def few_webhook_processes(cloud: Cloud) -> Iterator[None]:
    """Limit the number of processes, so that a kill interrupts only a part of the webhooks."""
    with few_processes(cloud, WEBHOOKS):
        yield


@pytest.mark.usefixtures("few_webhook_processes")
def test_unresponsive_receiver_does_not_delay_other_accounts(
    cloud: Cloud, receiver_process: ReceiverProcess, tmp_path: Path
) -> None:
    actions, submissions, deliveries = 3, 15, 3
    silent = create_tenant(cloud, tmp_path, *[receiver_process.url("/silent")] * actions)
    healthy = create_tenant(cloud, tmp_path, receiver_process.url("/healthy"))
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(silent.submit, [""] * submissions))
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
    assert {row["state"] for row in silent.executions()} == {"PENDING"}
    wait_until(lambda: [row["state"] for row in healthy.executions()] == ["SUCCEEDED"] * deliveries)
    assert {row["attempt"] for row in healthy.executions()} == {"1"}
