"""Verify the signatures of webhooks.

WebhookVerificationError
├── BadTimestamp             the timestamp is not a whole number of seconds
├── OutsideReplayWindow      the timestamp differs from now by more than five minutes
└── BadSignature             the signature does not match secret, timestamp and body
"""

import hmac
import re
from typing import Final

from chalicelib.domain.webhooks.signature import sign

REPLAY_WINDOW_S: Final = 300


_SECONDS: Final = re.compile(r"[0-9]{1,12}")


class WebhookVerificationError(Exception):
    """Base class of verification errors."""


class BadTimestamp(WebhookVerificationError):
    """The timestamp header is not a whole number of seconds."""


class OutsideReplayWindow(WebhookVerificationError):
    """The timestamp differs from now by more than five minutes. The webhook may be a replay.

    Attributes:
        age_s: age in seconds; negative if the timestamp is in the future.
    """

    def __init__(self, age_s: int) -> None:
        super().__init__(f"The timestamp is {abs(age_s)} s {'old' if age_s > 0 else 'ahead'}.")
        self.age_s = age_s


class BadSignature(WebhookVerificationError):
    """The signature does not match the secret, the timestamp and the body."""


def verify(
    secret: str, timestamp_header: str, signature_header: str, raw_body: bytes, now: int
) -> None:
    """Verify a webhook. Signatures are compared in constant time.

    Args:
        raw_body: the bytes as received, before any parsing.
        now: the receiver's time, in epoch seconds.

    Raises:
        BadTimestamp: the timestamp header is not a whole number of seconds.
        OutsideReplayWindow: the timestamp differs from now by more than five minutes.
        BadSignature: the signature does not match.
    """
    if not _SECONDS.fullmatch(timestamp_header):
        raise BadTimestamp("The timestamp is not a whole number of seconds.")
    age_s = now - int(timestamp_header)
    if abs(age_s) > REPLAY_WINDOW_S:
        raise OutsideReplayWindow(age_s)
    expected = sign(secret, timestamp_header, raw_body)
    # Compare bytes: compare_digest does not accept strings with non-ASCII characters.
    received = signature_header.encode("utf-8", "surrogatepass")
    if not hmac.compare_digest(expected.encode(), received):
        raise BadSignature("The signature does not match.")
