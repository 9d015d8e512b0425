"""Tests of the function that processes bounces and complaints of sent e-mails."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

import app
from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.sending_errors import OutcomeUnknown
from chalicelib.domain.solicitation.solicitation import SolicitationState
from chalicelib.domain.solicitation.tokens import (
    MAIL_REFERENCE_HEADER,
    MailReference,
    UnsubscribeToken,
)
from chalicelib.queues import MAX_RECEIVES
from chalicelib.services.customers.read import read_customer
from chalicelib.services.solicitation import process_message_event
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.storage import contacts
from chalicelib.storage.stage_values import stage_secret
from tests.lambda_context import LambdaContext
from tests.policies import allowed
from tests.services.solicitation.soliciting import CUSTOMER, Shop, stored

EMAIL = CUSTOMER["email"]


@pytest.fixture
def sent(shop: Shop) -> tuple[Shop, str, str]:
    """Send a survey. Return the shop, the id of the customer and the id of the message."""
    purchase = shop.record()
    shop.solicit()
    message_id = stored(purchase).message_id
    assert purchase.customer_id
    assert message_id
    return shop, purchase.customer_id, message_id


def event(
    message_id: str, kind: str = "Bounce", *addresses: str, headers: Sequence[str] = ()
) -> str:
    recipients = [{"emailAddress": address} for address in addresses or (EMAIL,)]
    return json.dumps(
        {
            "notificationType": kind,
            "mail": {
                "messageId": message_id,
                "headers": [{"name": MAIL_REFERENCE_HEADER, "value": value} for value in headers],
            },
            "bounce": {"bounceType": "Permanent", "bouncedRecipients": recipients},
            "complaint": {"complainedRecipients": recipients},
        }
    )


def process(*bodies: str, receive_count: int = 1, seconds_left: int = 30) -> list[str]:
    """Deliver messages to the function and return the bodies of those that failed."""
    records = [
        {
            "messageId": body,
            "body": body,
            "receiptHandle": "r",
            "attributes": {"ApproximateReceiveCount": str(receive_count)},
            "eventSourceARN": "arn:aws:sqs:eu-west-1:1:message-events",
        }
        for body in bodies
    ]
    with allowed("process_message_events"):
        response = app.process_message_events({"Records": records}, LambdaContext(seconds_left))
    return [failure["itemIdentifier"] for failure in response["batchItemFailures"]]


def state(shop: Shop, customer_id: str) -> tuple[bool, bool]:
    customer: Any = read_customer(shop.account_id, customer_id)
    return customer.email_bounced, customer.email_optin


def test_bounce_marks_address_of_customer(sent: tuple[Shop, str, str]) -> None:
    shop, customer_id, message_id = sent
    assert state(shop, customer_id) == (False, True)
    for _ in range(2):
        assert process(event(message_id)) == []
        assert state(shop, customer_id) == (True, True)


def test_complaint_turns_opt_in_off(sent: tuple[Shop, str, str]) -> None:
    shop, customer_id, message_id = sent
    body = event(message_id, "Complaint", "ZOE@example.test")
    assert process(body, body) == []
    assert state(shop, customer_id) == (False, False)


def test_every_recipient_of_event_is_suppressed(sent: tuple[Shop, str, str]) -> None:
    shop, _, message_id = sent
    assert process(event(message_id, "Bounce", "a@example.test", EMAIL)) == []
    for address in ("a@example.test", EMAIL):
        key = current_keys(shop.account_id, address, None)[Channel.EMAIL]
        assert key
        assert Channel.EMAIL in contacts.find_many([key])[key].suppressed
        assert contacts.ContactRow.get(key).account_id == shop.account_id


@pytest.mark.parametrize("domain", ["bücher.example", "bu\u0308cher.example", "Bücher。example"])
def test_event_for_international_domain_suppresses_stored_address(shop: Shop, domain: str) -> None:
    purchase = shop.record(customer=CUSTOMER | {"email": f"zoe@{domain}"})
    shop.solicit()
    message_id = stored(purchase).message_id
    assert message_id
    assert process(event(message_id, "Bounce", "zoe@xn--bcher-kva.example")) == []
    assert purchase.customer_id
    assert state(shop, purchase.customer_id) == (True, True)


def test_event_of_unknown_message_stays_on_queue_until_it_expires(account: str) -> None:
    unknown = event(new_id())
    assert process(unknown) == [unknown]
    assert process(unknown, receive_count=MAX_RECEIVES - 1) == [unknown]
    assert process(unknown, receive_count=MAX_RECEIVES) == []


@pytest.mark.parametrize("kind", ["Bounce", "Complaint"])
def test_event_of_message_with_unknown_outcome_suppresses_recipient(shop: Shop, kind: str) -> None:
    shop.provider.reactions = [OutcomeUnknown("ReadTimeoutError")]
    purchase = shop.record()
    shop.solicit()
    assert stored(purchase).state is SolicitationState.UNKNOWN
    assert stored(purchase).message_id is None
    assert purchase.customer_id
    header = MailReference(shop.account_id, purchase.id).signed(stage_secret())
    for _ in range(2):
        assert process(event(new_id(), kind, headers=["unsigned", header])) == []
        expected = (True, True) if kind == "Bounce" else (False, False)
        assert state(shop, purchase.customer_id) == expected


def test_header_without_valid_signature_is_not_trusted(sent: tuple[Shop, str, str]) -> None:
    shop, customer_id, _ = sent
    reference = MailReference(shop.account_id, new_id())
    wrong = [
        "",
        "é",
        "x",
        f"{shop.account_id} {reference.solicitation_id}",
        reference.signed(b"another secret"),
        reference.signed(stage_secret())[:-4],
        UnsubscribeToken(shop.account_id, "0" * 64, Channel.EMAIL, new_id(), None).signed(
            stage_secret()
        ),
        MailReference(new_id(), reference.solicitation_id).signed(stage_secret())[:20]
        + reference.signed(stage_secret())[20:],
    ]
    for header in wrong:
        unknown = event(new_id(), headers=[header])
        assert process(unknown) == [unknown]
    assert state(shop, customer_id) == (False, True)
    assert process(event(new_id(), headers=[reference.signed(stage_secret())])) == []
    assert state(shop, customer_id) == (True, True)


def test_late_event_is_processed_when_message_is_known(sent: tuple[Shop, str, str]) -> None:
    shop, customer_id, message_id = sent
    unknown, known = event(new_id()), event(message_id)
    assert process(unknown, known, receive_count=3) == [unknown]
    assert state(shop, customer_id) == (True, True)


def test_invalid_message_fails_even_at_last_receive(account: str) -> None:
    assert process("x", receive_count=MAX_RECEIVES) == ["x"]


def test_ignored_events_send_no_aws_requests(account: str) -> None:
    assert process(json.dumps({"notificationType": "Delivery"})) == []


def test_failed_message_does_not_block_others(
    sent: tuple[Shop, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, customer_id, message_id = sent
    find = process_message_event.find_message

    def fail_for_unknown(wanted: str) -> Any:
        if wanted != message_id:
            raise RuntimeError("failed")
        return find(wanted)

    monkeypatch.setattr(process_message_event, "find_message", fail_for_unknown)
    failing = event(new_id())
    assert process(failing, event(message_id), receive_count=MAX_RECEIVES) == [failing]
    assert state(shop, customer_id) == (True, True)


def test_messages_fail_if_too_little_time_is_left(sent: tuple[Shop, str, str]) -> None:
    body = event(sent[2])
    assert process(body, seconds_left=5) == [body]
