"""Signed tokens in messages: the ids of an unsubscribe link, and of the solicitation of an e-mail.

A token contains no address and does not expire. It still works after the customer is erased.
"""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Final, Self
from uuid import UUID

from chalicelib.domain.solicitation.channel import Channel

MAIL_REFERENCE_HEADER: Final = "X-Feedback-Solicitation"
"""The header of e-mails with a `MailReference`."""
MAX_TOKEN: Final = 500
"""Maximum number of characters of an unsubscribe token."""

# The HMAC's input starts with the purpose, so that a token for one purpose is invalid for another.
_MAIL_REFERENCE: Final = b"mail reference\n"
_UNSUBSCRIBE: Final = b"unsubscribe\n"
_TAG_BYTES: Final = 16
_UUID_BYTES: Final = 16


@dataclass(frozen=True)
class MailReference:
    """The content of the header that names the solicitation of an e-mail.

    A bounce or complaint contains the headers of the e-mail. The service never learns the
    provider's id of an e-mail whose outcome is unknown. The header identifies the solicitation
    without this id.
    """

    account_id: str
    solicitation_id: str

    def signed(self, secret: bytes) -> str:
        """Return the value of the header, with an HMAC under the secret of the stage."""
        content = UUID(self.account_id).bytes + UUID(self.solicitation_id).bytes
        return _signed(_MAIL_REFERENCE, secret, content)

    @classmethod
    def parse(cls, value: str, secret: bytes) -> Self | None:
        """Return the ids in the header, or None if the value is invalid or its HMAC is wrong."""
        content = _content_of(_MAIL_REFERENCE, secret, value.strip())
        if content is None:
            return None
        ids = content[:_UUID_BYTES], content[_UUID_BYTES:]
        return cls(*(str(UUID(bytes=each)) for each in ids))


@dataclass(frozen=True)
class UnsubscribeToken:
    """The content of the token of an unsubscribe link.

    Attributes:
        contact_hash: the contact hash of the e-mail address or phone number.
        channel: the channel that the recipient unsubscribes from.
        survey_id: the survey of the message.
        store_id: the store that the message is about; None if it no longer exists.
    """

    account_id: str
    contact_hash: str
    channel: Channel
    survey_id: str
    store_id: str | None

    def signed(self, secret: bytes) -> str:
        """Return the token for a link, with an HMAC under the secret of the stage."""
        sent = (self.channel.value, self.survey_id, self.store_id)
        values = [self.account_id, self.contact_hash, *sent]
        return _signed(_UNSUBSCRIBE, secret, json.dumps(values).encode()).rstrip("=")

    @classmethod
    def parse(cls, text: str, secret: bytes) -> Self | None:
        """Return the content of a token, or None if its HMAC is wrong."""
        content = _content_of(_UNSUBSCRIBE, secret, text) if len(text) <= MAX_TOKEN else None
        if content is None:
            return None
        account_id, contact_hash, channel, survey_id, store_id = json.loads(content)
        return cls(account_id, contact_hash, Channel(channel), survey_id, store_id)


def _signed(purpose: bytes, secret: bytes, content: bytes) -> str:
    return urlsafe_b64encode(_tag(purpose, secret, content) + content).decode()


def _content_of(purpose: bytes, secret: bytes, token: str) -> bytes | None:
    try:
        signed = urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
    except ValueError:
        return None
    tag, content = signed[:_TAG_BYTES], signed[_TAG_BYTES:]
    return content if hmac.compare_digest(tag, _tag(purpose, secret, content)) else None


def _tag(purpose: bytes, secret: bytes, content: bytes) -> bytes:
    return hmac.digest(secret, purpose + content, "sha256")[:_TAG_BYTES]
