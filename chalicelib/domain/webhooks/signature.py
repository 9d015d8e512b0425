"""Sign webhooks."""

import hmac
from base64 import b64encode
from collections.abc import Iterable
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


def sign_standard(secrets: Iterable[str], webhook_id: str, timestamp: int, raw_body: bytes) -> str:
    """Return the header ``webhook-signature`` of Standard Webhooks: a signature for each secret.

    A signature is ``v1,`` and the HMAC of ``<webhook_id>.<timestamp>.<raw_body>`` in Base64.
    """
    content = f"{webhook_id}.{timestamp}.".encode() + raw_body
    digests = (hmac.digest(secret.encode(), content, sha256) for secret in secrets)
    return " ".join(f"v1,{b64encode(digest).decode()}" for digest in digests)


def standard_secret(secret: str) -> str:
    """Return a secret in the form of Standard Webhooks: its libraries then compute the same key."""
    return f"whsec_{b64encode(secret.encode()).decode()}"
