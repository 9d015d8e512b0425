"""Test that libraries of others verify webhooks, and reject changed ones and other secrets."""

from collections.abc import Callable
from datetime import timedelta

import pytest
import resend
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from stripe import SignatureVerificationError, WebhookSignature

from admin.services.webhooks import send_example
from admin.services.webhooks.secret import rotate_webhook_secret, signing_webhook_secrets
from admin.services.webhooks.send_example import send_test
from chalicelib.domain import clock
from chalicelib.domain.webhooks.partner_view import WebhookTestRequest
from chalicelib.domain.webhooks.signature import standard_secret
from chalicelib.services.caching import clear_caches
from chalicelib.services.webhooks.deliveries import queue_test
from tests.domain.workflows.factories import action_definition
from tests.services.queues import WEBHOOK_QUEUE
from tests.services.webhooks.delivering import (
    TIMED_OUT,
    ReceivedRequest,
    ReceivingAccount,
    add_workflow,
    response_with,
    trigger_webhooks,
)

REJECTIONS = (WebhookVerificationError, SignatureVerificationError, ValueError)


def verify_with_standardwebhooks(headers: dict[str, str], body: bytes, secret: str) -> None:
    Webhook(secret).verify(body, headers)


def verify_with_resend(headers: dict[str, str], body: bytes, secret: str) -> None:
    """Verify a webhook with another implementation of Standard Webhooks."""
    standard = {name: headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature")}
    resend.Webhooks.verify(
        {"payload": body.decode(), "headers": standard, "webhook_secret": secret}  # type: ignore[typeddict-item]
    )


def verify_with_stripe(headers: dict[str, str], body: bytes, secret: str) -> None:
    """Verify ``X-Service-Webhook-Signature``, in the form of the header that the library reads."""
    timestamp = headers["X-Service-Webhook-Timestamp"]
    signature = headers["X-Service-Webhook-Signature"].removeprefix("sha256=")
    WebhookSignature.verify_header(body, f"t={timestamp},v1={signature}", secret, tolerance=300)


Verify = Callable[[dict[str, str], bytes, str], None]
STANDARD = (verify_with_standardwebhooks, verify_with_resend)


def text_of(secret: str) -> str:
    return secret


FORMS: list[tuple[Verify, Callable[[str], str], list[Callable[[str], str]]]] = [
    *((verify, standard_secret, [text_of, "whsec_{}".format]) for verify in STANDARD),
    (verify_with_stripe, text_of, [standard_secret]),
]
"""Each library with the form of the secret that it needs, and with the wrong forms."""


def active_secret(seeded: ReceivingAccount) -> str:
    return signing_webhook_secrets(seeded.account_id, clock.now())[0]


@pytest.fixture
def deliveries(seeded: ReceivingAccount, monkeypatch: pytest.MonkeyPatch) -> list[ReceivedRequest]:
    """Return a webhook, its repeat, the test of a partner and the test of an operator."""
    monkeypatch.setattr(send_example, "post", seeded.receiver.post)
    headers = {"Webhook-Id": "x", "webhook_timestamp": "1", "WEBHOOK-SIGNATURE": "v1,x"}
    metadata = {"name": "Zoë 🙂"}
    workflow = add_workflow(
        seeded.account_id, action_definition(headers=headers, metadata=metadata)
    )
    seeded.receiver.responses = [TIMED_OUT, response_with(200)]
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    seeded.advance(timedelta(minutes=2))
    (action,) = workflow.actions
    queue_test(
        seeded.account_id, WebhookTestRequest(workflowId=workflow.id, actionId=action.id), None
    )
    WEBHOOK_QUEUE.deliver(WEBHOOK_QUEUE.queued_messages(seeded.account_id))
    send_test(seeded.account_id, workflow, action)
    assert len(seeded.receiver.requests) == 4
    return seeded.receiver.requests


@pytest.mark.parametrize(("verify", "form", "wrong_forms"), FORMS)
def test_library_verifies_each_delivery_unless_byte_is_changed_or_secret_has_wrong_form(
    seeded: ReceivingAccount,
    deliveries: list[ReceivedRequest],
    verify: Verify,
    form: Callable[[str], str],
    wrong_forms: list[Callable[[str], str]],
) -> None:
    secret = active_secret(seeded)
    for delivery in deliveries:
        verify(delivery.headers, delivery.body, form(secret))
        for position in range(len(delivery.body)):
            changed = bytearray(delivery.body)
            changed[position] ^= 1
            with pytest.raises(REJECTIONS):
                verify(delivery.headers, bytes(changed), form(secret))
        for wrong_form in wrong_forms:
            with pytest.raises(REJECTIONS):
                verify(delivery.headers, delivery.body, wrong_form(secret))


@pytest.mark.parametrize("verify", STANDARD)
def test_id_of_delivery_is_signed(
    seeded: ReceivingAccount, deliveries: list[ReceivedRequest], verify: Verify
) -> None:
    secret = standard_secret(active_secret(seeded))
    first, repeat, *_ = deliveries
    assert first.headers["webhook-id"] == repeat.headers["webhook-id"] == repeat.execution_id
    with pytest.raises(REJECTIONS):
        verify(first.headers | {"webhook-id": seeded.account_id}, first.body, secret)


@pytest.mark.parametrize("verify", STANDARD)
def test_old_and_new_secret_verify_from_rotation_until_a_day_after_its_start(
    seeded: ReceivingAccount, verify: Verify
) -> None:
    add_workflow(seeded.account_id)
    seeded.receiver.responses = [response_with(200)]
    old = active_secret(seeded)
    start = clock.now() + timedelta(minutes=1)
    new = rotate_webhook_secret(seeded.account_id, "operator", start).secret
    for _ in range(2):
        clear_caches()
        WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
        delivery = seeded.receiver.requests[-1]
        for secret in (old, new):
            verify(delivery.headers, delivery.body, standard_secret(secret))
        seeded.time.ahead += timedelta(minutes=2)
