"""Tests of the demo's webhook receiver, which runs as a separate process."""

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chalicelib.domain.webhooks.headers import webhook_headers
from chalicelib.domain.webhooks.signature import sign
from chalicelib.outbound.webhook_http.exchange import WebhookResponse, post
from infrastructure.local_cloud.webhook_receiver import WebhookReceiver

BODY = '{"event": "workflow.action.webhook", "note": "Zoë"}'.encode()


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[WebhookReceiver]:
    (tmp_path / "demo.json").write_text('{"webhookSecret": "s"}')
    receiver = WebhookReceiver(tmp_path)
    yield receiver
    receiver.stop()


def deliver(receiver: WebhookReceiver, *, key: str = "s", body: bytes = BODY) -> WebhookResponse:
    timestamp = int(time.time())
    headers = webhook_headers(
        {"X-Own": "1"},
        execution_id="e",
        timestamp=timestamp,
        signature=sign(key, timestamp, BODY),
    )
    return post(receiver.url, headers, body, allow_private=True)


def test_demo_receiver_verifies_and_stores_webhooks(
    receiver: WebhookReceiver,
) -> None:
    process = receiver.start()
    assert process
    assert deliver(receiver).status == 200
    assert deliver(receiver, key="other").status == 401
    assert deliver(receiver, body=BODY + b" ").status == 401
    lines = [json.loads(line) for line in receiver.received.read_text().splitlines()]
    assert [line["verdict"] for line in lines] == ["valid"] + ["The signature does not match."] * 2
    assert (lines[0]["method"], lines[0]["path"]) == ("POST", "/webhooks")
    assert base64.b64decode(lines[0]["body"]) == BODY
    assert lines[0]["headers"]["X-Own"] == "1"
    assert lines[0]["headers"]["User-Agent"] == "Service-Workflow-Webhook"
    assert len(receiver.log.read_text().splitlines()) == 3

    assert receiver.is_running()
    assert receiver.stop()
    assert not receiver.is_running()
    assert not receiver.stop()
    assert process.wait(5) == 0
    assert deliver(receiver).status is None

    url = receiver.url
    restarted = receiver.start()
    assert restarted
    assert receiver.start() is None
    assert receiver.url == url
    (receiver.folder / "demo.json").unlink()
    assert deliver(receiver).status == 401
    receiver.stop()
    restarted.wait(5)


def test_receiver_escapes_control_characters_in_its_output(receiver: WebhookReceiver) -> None:
    process = receiver.start()
    assert process
    name = "\x1b]0;owned\x07 \x9b2J\r\n\u202e\u2028 Zoë"
    body = {"workflow": {"name": name}, "action": {"key": "k"}, "feedback": {"id": "i"}}
    deliver(receiver, body=json.dumps(body).encode())
    receiver.stop()
    process.wait(5)
    (line,) = receiver.log.read_text().split("\n")[:-1]
    assert line.isprintable()
    assert r"\x1b]0;owned\x07 \x9b2J\r\n\u202e\u2028 Zoë" in line
