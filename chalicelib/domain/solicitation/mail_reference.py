"""The header that names the solicitation of an e-mail: its ids with an HMAC.

A bounce or complaint contains the headers of the e-mail. The service never learns the provider's id
of an e-mail whose outcome is unknown. The header identifies the solicitation without this id.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from dataclasses import dataclass
from typing import Final, Self
from uuid import UUID

HEADER: Final = "X-Feedback-Solicitation"

_PURPOSE: Final = b"mail reference\n"
"""A prefix of the HMAC's input, so that other HMACs with the same secret have other values."""
_TAG_BYTES: Final = 16
_UUID_BYTES: Final = 16


@dataclass(frozen=True)
class MailReference:
    """The content of the header."""

    account_id: str
    solicitation_id: str

    def signed(self, secret: bytes) -> str:
        """Return the value of the header, with an HMAC under the secret of the stage."""
        content = UUID(self.account_id).bytes + UUID(self.solicitation_id).bytes
        return urlsafe_b64encode(_tag(secret, content) + content).decode()

    @classmethod
    def parse(cls, value: str, secret: bytes) -> Self | None:
        """Return the ids in the header, or None if the value is invalid or its HMAC is wrong."""
        try:
            signed = urlsafe_b64decode(value.strip().encode("ascii"))
        except (Error, ValueError):
            return None
        tag, content = signed[:_TAG_BYTES], signed[_TAG_BYTES:]
        if len(content) != 2 * _UUID_BYTES or not hmac.compare_digest(tag, _tag(secret, content)):
            return None
        ids = content[:_UUID_BYTES], content[_UUID_BYTES:]
        return cls(*(str(UUID(bytes=each)) for each in ids))


def _tag(secret: bytes, content: bytes) -> bytes:
    return hmac.digest(secret, _PURPOSE + content, "sha256")[:_TAG_BYTES]
