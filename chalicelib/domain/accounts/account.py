"""Accounts, partner credentials and webhook signing secrets."""

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
    """One tenant of the service. Every other record belongs to one account."""

    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True)
class Credential:
    """A partner's API key with the hash of its secret.

    Attributes:
        api_key: the public identifier that partners send as ``X-API-KEY``.
        secret_hash: SHA-256 of the secret, in hexadecimal. The secret has 256 random bits, so a
            slow hash would add nothing.
        label: the operator's name for the key.
    """

    api_key: str
    account_id: str
    secret_hash: str
    label: str
    created_at: datetime
    revoked_at: datetime | None = None

    def accepts(self, secret: str) -> bool:
        """Return whether the secret matches and the key is not revoked, in constant time."""
        same = hmac.compare_digest(self.secret_hash, hash_of(secret))
        return same and self.revoked_at is None


@dataclass(frozen=True)
class SigningSecrets:
    """An account's webhook signing secrets with their start times.

    Attributes:
        by_start: pairs of start time and secret, earliest first.
    """

    by_start: tuple[tuple[datetime, str], ...]

    def active(self, at: datetime) -> str | None:
        """Return the secret that is active at this time, or None."""
        return next((secret for start, secret in reversed(self.by_start) if start <= at), None)

    def __repr__(self) -> str:
        return f"SigningSecrets({len(self.by_start)})"


def is_api_key(text: str) -> bool:
    """Return whether the text has the format of an API key."""
    return bool(_API_KEY_FORM.fullmatch(text))


def new_api_key() -> str:
    """Generate an API key: ``fk_`` and 24 hexadecimal digits."""
    return f"fk_{secrets.token_hex(12)}"


def new_secret() -> str:
    """Generate a secret of 32 random bytes in URL-safe Base64."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def hash_of(secret: str) -> str:
    """Return the stored form of a secret."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


NO_CREDENTIAL: Final = Credential(
    api_key="",
    account_id="",
    secret_hash=hash_of(new_secret()),
    label="",
    created_at=datetime.min.replace(tzinfo=UTC),
)
"""Accepts no secret. Compared instead of an unknown key, so that both cases take the same time."""
