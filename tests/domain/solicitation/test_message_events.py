"""Tests of parsing SES notifications: formats, kinds, several recipients, invalid notifications."""

import json
from typing import Any

import pytest

from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.message_events import MessageEvent, parse_message_event

BOUNCE = {
    "bounceType": "Permanent",
    "bouncedRecipients": [
        {"emailAddress": "Zoe <zoe@example.com>", "status": "5.1.1"},
        {"emailAddress": "ada@example.com"},
        {"emailAddress": "ada@example.com"},
    ],
}
COMPLAINT = {"complainedRecipients": [{"emailAddress": "zoe@example.com"}]}


def notification(kind: str, name: str = "notificationType", **details: Any) -> str:
    return json.dumps({name: kind, "mail": {"messageId": "m1"}, **details})


@pytest.mark.parametrize("name", ["notificationType", "eventType"])
def test_permanent_bounce_contains_all_recipients(name: str) -> None:
    assert parse_message_event(notification("Bounce", name, bounce=BOUNCE)) == MessageEvent(
        "m1", SuppressionReason.BOUNCED, ("zoe@example.com", "ada@example.com")
    )


def test_event_contains_references_in_headers() -> None:
    headers = [
        {"name": "Subject", "value": "Votre visite ?"},
        {"name": "x-feedback-solicitation", "value": "a"},
        {"name": "X-Feedback-Solicitation", "value": "b"},
    ]
    mail = {"messageId": "m1", "headersTruncated": False, "headers": headers}
    event = parse_message_event(notification("Bounce", bounce=BOUNCE, mail=mail))
    assert event
    assert event.references == ("a", "b")


@pytest.mark.parametrize("name", ["notificationType", "eventType"])
def test_complaint_is_recognized(name: str) -> None:
    complaint = COMPLAINT | {"complaintFeedbackType": "abuse"}
    for details in (COMPLAINT, complaint):
        event = parse_message_event(notification("Complaint", name, complaint=details))
        assert event == MessageEvent("m1", SuppressionReason.COMPLAINT, ("zoe@example.com",))


def test_event_is_read_from_envelope_of_topic() -> None:
    body = json.dumps(
        {"Type": "Notification", "Message": notification("Complaint", complaint=COMPLAINT)}
    )
    assert parse_message_event(body)


@pytest.mark.parametrize(
    "body",
    [
        notification("Delivery"),
        notification("Send", "eventType"),
        notification("Open", "eventType"),
        notification("AmazonSnsSubscriptionSucceeded"),
        notification("Bounce", bounce=BOUNCE | {"bounceType": "Transient"}),
        notification("Bounce", bounce=BOUNCE | {"bounceType": "Undetermined"}),
        notification("Complaint", complaint=COMPLAINT | {"complaintFeedbackType": "not-spam"}),
    ],
)
def test_event_other_than_bounce_and_complaint_is_ignored(body: str) -> None:
    assert parse_message_event(body) is None


@pytest.mark.parametrize(
    "body",
    [
        "",
        "x",
        "[]",
        "1",
        "null",
        "{}",
        "[" * 100_000,
        '{"Type": "Notification"}',
        notification("Bounce"),
        notification("Bounce", bounce={"bounceType": "Permanent"}),
        notification("Bounce", bounce=BOUNCE | {"bouncedRecipients": [{}]}),
        notification("Complaint", complaint=COMPLAINT, mail={}),
        notification("Complaint", complaint=None),
    ],
)
def test_invalid_notification_raises_value_error(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - several messages
        parse_message_event(body)
