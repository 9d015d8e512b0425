"""Test the examples in docs/webhooks.md: the body of a webhook, and how to verify it."""

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest
from standardwebhooks.webhooks import WebhookVerificationError
from stripe import SignatureVerificationError

from admin.services.webhooks.secret import signing_webhook_secrets
from chalicelib.domain import clock
from chalicelib.domain.webhooks.signature import sign, standard_secret
from tests.docs.blocks import block
from tests.services.queues import WEBHOOK_QUEUE
from tests.services.webhooks.delivering import Receiver, add_workflow, trigger_webhooks
from tests.web.seeded_account import seed_account

PAGE = "docs/webhooks.md"


def names(value: Any) -> Any:
    """Return the nested names of a JSON object, except names in ``metadata``."""
    return {
        name: {} if name == "metadata" else names(item)
        for name, item in (value.items() if isinstance(value, dict) else ())
    }


@dataclass
class Webhook:
    headers: dict[str, str]
    body: bytes
    secret: str


@pytest.fixture
def webhook(account: str, receiver: Receiver) -> Webhook:
    """Deliver a webhook, and return it with the secret of the account."""
    seeded = seed_account()
    add_workflow(seeded.account_id)
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    (request,) = receiver.requests
    (secret,) = signing_webhook_secrets(seeded.account_id, clock.now())
    return Webhook(request.headers, request.body, secret)


def functions_of(containing: str) -> dict[str, Any]:
    """Run a documented example in Python, and return what it defines."""
    names: dict[str, Any] = {}
    exec(block(PAGE, containing).text, names)  # noqa: S102 - the text is ours
    return names


def test_documented_body_has_the_fields_of_a_webhook(webhook: Webhook) -> None:
    body = json.loads(webhook.body)
    shown = json.loads(block(PAGE, "workflow.action.webhook").text)
    assert names(body) == names(shown)
    assert body["event"] == shown["event"]


def test_documented_library_verifies_webhook(
    webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", standard_secret(webhook.secret))
    verified_event = functions_of("from standardwebhooks")["verified_event"]
    assert verified_event(webhook.headers, webhook.body) == json.loads(webhook.body)
    with pytest.raises(WebhookVerificationError):
        verified_event(webhook.headers, webhook.body + b" ")


def test_documented_header_for_stripe_verifies_webhook(webhook: Webhook) -> None:
    verify = functions_of("from stripe")["verify"]
    verify(webhook.headers, webhook.body, webhook.secret)
    with pytest.raises(SignatureVerificationError):
        verify(webhook.headers, webhook.body + b" ", webhook.secret)


def test_documented_command_prints_signature() -> None:
    values = {"TIMESTAMP": "1795291512", "BODY": '{"name": "Zoë"}', "SECRET": "sécret"}
    result = subprocess.run(
        ["bash", "-c", block(PAGE, "openssl").text],
        env=os.environ | values,
        check=True,
        capture_output=True,
        text=True,
    )
    signature = sign(values["SECRET"], int(values["TIMESTAMP"]), values["BODY"].encode())
    assert f"sha256={result.stdout.split()[0]}" == signature
