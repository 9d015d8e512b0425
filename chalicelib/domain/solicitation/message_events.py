"""Parse the notifications of SES about sent e-mails: permanent bounces and complaints.

SES sends two formats: identity notifications, with `notificationType`, and events of configuration
sets, with `eventType`.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from email.utils import parseaddr
from typing import Any

from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.tokens import MAIL_REFERENCE_HEADER

_NO_COMPLAINT = "not-spam"
"""The complaint type that reports that the recipient moved the message out of the spam folder."""


@dataclass(frozen=True)
class MessageEvent:
    """A permanent bounce of a message, or a complaint about it.

    Attributes:
        provider_id: the provider's id of the message.
        reason: why the recipients receive no more messages.
        recipients: the e-mail addresses of the recipients that the event concerns.
        references: the values of the header that names the solicitation. They are not verified.
    """

    provider_id: str
    reason: SuppressionReason
    recipients: tuple[str, ...]
    references: tuple[str, ...] = ()


def parse_message_event(body: str) -> MessageEvent | None:
    """Return the event in a queue message. Return None for events that need no processing.

    Deliveries, transient bounces and other kinds of events need no processing.

    Raises:
        ValueError: the body is not a notification of SES.
    """
    try:
        notification = json.loads(body)
        if notification.get("Type") == "Notification":
            # The subscription of the queue does not use raw message delivery.
            notification = json.loads(notification["Message"])
        kind = notification.get("notificationType") or notification["eventType"]
        if kind == "Bounce" and notification["bounce"]["bounceType"] == "Permanent":
            recipients = notification["bounce"]["bouncedRecipients"]
            return _event(notification, SuppressionReason.BOUNCED, recipients)
        if kind == "Complaint":
            complaint = notification["complaint"]
            if complaint.get("complaintFeedbackType") != _NO_COMPLAINT:
                recipients = complaint["complainedRecipients"]
                return _event(notification, SuppressionReason.COMPLAINT, recipients)
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        raise ValueError(f"Invalid message event: {type(error).__name__}.") from error
    return None


def _event(notification: Any, reason: SuppressionReason, recipients: Iterable[Any]) -> MessageEvent:
    addresses = (parseaddr(recipient["emailAddress"])[1] for recipient in recipients)
    unique = dict.fromkeys(address for address in addresses if address)
    mail = notification["mail"]
    references = tuple(
        str(header["value"])
        for header in mail.get("headers") or ()
        if header["name"].lower() == MAIL_REFERENCE_HEADER.lower()
    )
    return MessageEvent(str(mail["messageId"]), reason, tuple(unique), references)
