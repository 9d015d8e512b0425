"""Sign webhooks."""

import hmac
from hashlib import sha256
from typing import Final

PREFIX: Final = "sha256="


def sign(secret: str, timestamp: int | str, raw_body: bytes) -> str:
    """Return the signature header: ``sha256=`` and the HMAC of ``<timestamp>.<raw_body>`` in hex.

    Args:
        timestamp: the time of sending, in epoch seconds, or the timestamp header.
        raw_body: the exact bytes that are sent.
    """
    content = f"{timestamp}.".encode() + raw_body
    return PREFIX + hmac.new(secret.encode(), content, sha256).hexdigest()
