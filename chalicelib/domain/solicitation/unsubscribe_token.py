"""The token of an unsubscribe link: account, contact hash and channel with an HMAC.

A token contains no address and does not expire. It still works after the customer is erased,
because it identifies the address by its contact hash.
"""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from dataclasses import dataclass
from typing import Final, Self

from chalicelib.domain.solicitation.channel import Channel

MAX_TOKEN: Final = 500
"""Maximum number of characters of a token."""

_PURPOSE: Final = b"unsubscribe\n"
"""A prefix of the HMAC's input, so that other HMACs with the same secret have other values."""
_TAG_BYTES: Final = 16


@dataclass(frozen=True)
class UnsubscribeToken:
    """The content of a token.

    Attributes:
        contact_hash: the contact hash of the e-mail address or phone number.
        channel: the channel that the recipient unsubscribes from.
        survey_id, store_id: the survey of the message and the store that it is about; None in the
            tokens of earlier versions.
    """

    account_id: str
    contact_hash: str
    channel: Channel
    survey_id: str | None = None
    store_id: str | None = None

    def signed(self, secret: bytes) -> str:
        """Return the token for a link, with an HMAC under the secret of the stage."""
        origin = [self.survey_id, self.store_id] if self.survey_id else []
        values = [self.account_id, self.contact_hash, self.channel.value, *origin]
        content = json.dumps(values).encode()
        return urlsafe_b64encode(_tag(secret, content) + content).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str, secret: bytes) -> Self | None:
        """Return the content of a token, or None if its HMAC is wrong."""
        if len(text) > MAX_TOKEN:
            return None
        try:
            token = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        except (Error, ValueError):
            return None
        tag, content = token[:_TAG_BYTES], token[_TAG_BYTES:]
        if not hmac.compare_digest(tag, _tag(secret, content)):
            return None
        account_id, contact_hash, channel, *origin = json.loads(content)
        return cls(account_id, contact_hash, Channel(channel), *origin)


def _tag(secret: bytes, content: bytes) -> bytes:
    return hmac.digest(secret, _PURPOSE + content, "sha256")[:_TAG_BYTES]
