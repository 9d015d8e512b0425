"""Accounts and the credentials that partners prove themselves with."""

import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

_SECRET_BYTES: Final = 32
_API_KEY_FORM: Final = re.compile(r"fk_[0-9a-f]{24}")


@dataclass(frozen=True)
class Account:
    """One customer of the service; everything else belongs to one account."""

    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True)
class Credential:
    """A partner's key, and what is left of its secret.

    Attributes:
        api_key: the public identifier that partners send as ``X-API-KEY``.
        secret_hash: SHA-256 of the secret, in hexadecimal. The secret has 256 random bits, so that
            a slow hash would add nothing.
        label: what the operator calls it.
    """

    api_key: str
    account_id: str
    secret_hash: str
    label: str
    created_at: datetime
    revoked_at: datetime | None = None

    def accepts(self, secret: str) -> bool:
        """Whether this is the secret and the credential still holds; compared in constant time."""
        same = hmac.compare_digest(self.secret_hash, hash_of(secret))
        return same and self.revoked_at is None


@dataclass(frozen=True)
class SigningSecrets:
    """The secrets that an account's webhooks are signed with, each from a moment on.

    Attributes:
        by_start: pairs of that moment and the secret, the earliest first.
    """

    by_start: tuple[tuple[datetime, str], ...]

    def active(self, at: datetime) -> str | None:
        """The secret that signs at this moment, or None."""
        return next((secret for start, secret in reversed(self.by_start) if start <= at), None)

    def __repr__(self) -> str:
        return f"SigningSecrets({len(self.by_start)})"


def is_api_key(text: str) -> bool:
    """Whether the text has the form of a key; whatever else it is, it is nobody's."""
    return bool(_API_KEY_FORM.fullmatch(text))


def new_api_key() -> str:
    """A new public key: ``fk_`` and 24 hexadecimal digits."""
    return f"fk_{secrets.token_hex(12)}"


def new_secret() -> str:
    """A new secret of 32 random bytes, in URL-safe Base64."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def hash_of(secret: str) -> str:
    """What is kept of a secret."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


NO_CREDENTIAL: Final = Credential(
    api_key="",
    account_id="",
    secret_hash=hash_of(new_secret()),
    label="",
    created_at=datetime.min.replace(tzinfo=UTC),
)
"""Accepts nothing; compared in place of an unknown key, so that the comparison tells nothing."""
