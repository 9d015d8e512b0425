"""Tests of the demo's webhook receiver."""

import base64
import json
import time
from pathlib import Path

import pytest

from chalicelib.domain.webhooks.headers import webhook_headers
from infrastructure.local_cloud.strict.webhook_receiver import WebhookReceiver

BODY = '{"event": "workflow.action.webhook", "note": "Zoë"}'.encode()


@pytest.fixture
def receiver(tmp_path: Path) -> WebhookReceiver:
    (tmp_path / "demo.json").write_text('{"webhookSecret": "s"}')
    return WebhookReceiver(tmp_path)


def deliver(receiver: WebhookReceiver, *, key: str = "s", body: bytes = BODY) -> int:
    """Deliver a webhook, with the names of headers as the server passes them."""
    headers = webhook_headers(
        {"X-Own": "1"}, BODY, [key], execution_id="e", timestamp=int(time.time())
    )
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    status, _ = receiver.receive("/_local/webhooks", raw, body)
    return status


def test_demo_receiver_verifies_and_stores_webhooks(
    receiver: WebhookReceiver, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert deliver(receiver) == 200
    assert deliver(receiver, key="other") == 401
    assert deliver(receiver, body=BODY + b" ") == 401
    received = (tmp_path / "webhooks.jsonl").read_text().splitlines()
    lines = [json.loads(line) for line in received]
    assert [line["verdict"] for line in lines] == ["valid"] + ["The signature does not match."] * 2
    assert (lines[0]["method"], lines[0]["path"]) == ("POST", "/_local/webhooks")
    assert base64.b64decode(lines[0]["body"]) == BODY
    assert lines[0]["headers"]["x-own"] == "1"
    assert lines[0]["headers"]["user-agent"] == "Service-Workflow-Webhook"
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_webhook_is_invalid_until_demo_data_is_loaded(
    receiver: WebhookReceiver, tmp_path: Path
) -> None:
    (tmp_path / "demo.json").unlink()
    assert deliver(receiver) == 401
    assert "no webhook secret" in (tmp_path / "webhooks.jsonl").read_text()


def test_receiver_escapes_control_characters_in_its_output(
    receiver: WebhookReceiver, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "\x1b]0;owned\x07 \x9b2J\r\n\u202e\u2028 Zoë"
    body = {"workflow": {"name": name}, "action": {"key": "k"}, "feedback": {"id": "i"}}
    deliver(receiver, body=json.dumps(body).encode())
    (line,) = capsys.readouterr().out.split("\n")[:-1]
    assert line.isprintable()
    assert r"\x1b]0;owned\x07 \x9b2J\r\n\u202e\u2028 Zoë" in line
