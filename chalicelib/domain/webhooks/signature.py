"""Signing webhooks, and verifying them as their receiver (interface, section 6.2).

Standard library only, so that a receiver can import or copy it.

RefusedWebhook
├── BadTimestamp             the timestamp is no whole number of seconds
├── OutsideReplayWindow      it is more than five minutes old, or ahead
└── BadSignature             secret, timestamp and body do not make this signature
"""

import hmac
import re
from hashlib import sha256
from typing import Final

REPLAY_WINDOW_S: Final = 300
PREFIX: Final = "sha256="

_SECONDS: Final = re.compile(r"[0-9]{1,12}")


class WebhookVerificationError(Exception):
    """The parent of every reason not to believe a webhook."""


class BadTimestamp(WebhookVerificationError):
    """The timestamp header is no whole number of seconds."""


class OutsideReplayWindow(WebhookVerificationError):
    """The webhook is too old or from the future; it may be a repeat of a recorded one.

    Attributes:
        age_s: how old it says it is, in seconds; negative when from the future.
    """

    def __init__(self, age_s: int) -> None:
        super().__init__(f"The timestamp is {abs(age_s)} s {'old' if age_s > 0 else 'ahead'}.")
        self.age_s = age_s


class BadSignature(WebhookVerificationError):
    """The signature is not that of this body at this time with this secret."""


def sign(secret: str, timestamp: int, raw_body: bytes) -> str:
    """The signature header: ``sha256=`` and the HMAC of ``<timestamp>.<raw_body>``, hexadecimal.

    Args:
        timestamp: when it is sent, in epoch seconds.
        raw_body: exactly the bytes that are sent.
    """
    return _signature(secret, str(timestamp), raw_body)


def verify(
    secret: str, timestamp_header: str, signature_header: str, raw_body: bytes, now: int
) -> None:
    """Return if the webhook is genuine and of now; signatures are compared in constant time.

    Args:
        raw_body: the bytes as they were received, before any parsing.
        now: the receiver's time, in epoch seconds.

    Raises:
        BadTimestamp: the timestamp header is no whole number of seconds.
        OutsideReplayWindow: it differs from now by more than five minutes, either way.
        BadSignature: the signature does not match.
    """
    if not _SECONDS.fullmatch(timestamp_header):
        raise BadTimestamp("The timestamp is no whole number of seconds.")
    age_s = now - int(timestamp_header)
    if abs(age_s) > REPLAY_WINDOW_S:
        raise OutsideReplayWindow(age_s)
    expected = _signature(secret, timestamp_header, raw_body)
    # As bytes: a text with other characters than ASCII cannot be compared in constant time.
    given = signature_header.encode("utf-8", "surrogatepass")
    if not hmac.compare_digest(expected.encode(), given):
        raise BadSignature("The signature does not match.")


def _signature(secret: str, timestamp: str, raw_body: bytes) -> str:
    return (
        PREFIX + hmac.new(secret.encode(), f"{timestamp}.".encode() + raw_body, sha256).hexdigest()
    )
