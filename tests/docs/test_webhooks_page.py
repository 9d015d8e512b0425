"""Test the examples in docs/webhooks.md: the body of a webhook and the command that signs it."""

import json
import os
import subprocess
from typing import Any

from chalicelib.domain.webhooks.signature import sign
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


def test_documented_body_has_the_fields_of_a_webhook(account: str, receiver: Receiver) -> None:
    seeded = seed_account()
    add_workflow(seeded.account_id)
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    (request,) = receiver.requests
    body = json.loads(request.body)
    shown = json.loads(block(PAGE, "workflow.action.webhook").text)
    assert names(body) == names(shown)
    assert body["event"] == shown["event"]


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
