"""Accounts, partner credentials with their permissions, and webhook secrets."""

import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from itertools import zip_longest
from typing import Final

from chalicelib.domain.errors import MissingPermission

KEPT_AFTER_REPLACEMENT: Final = timedelta(days=1)
"""The time for which a replaced webhook secret also signs, so that receivers can change theirs."""

_SECRET_BYTES: Final = 32
_API_KEY_PATTERN: Final = re.compile(r"fk_[0-9a-f]{24}")


@dataclass(frozen=True)
class Account:
    """A tenant of the service. Every other record belongs to exactly one account.

    Attributes:
        closed_at: the time at which an operator began to close the account.
    """

    id: str
    name: str
    created_at: datetime
    closed_at: datetime | None = None


class Permission(StrEnum):
    """What a partner may do with an API key."""

    READ = "read"
    WRITE = "write"
    ERASE = "erase"


DEFAULT_PERMISSIONS: Final = frozenset({Permission.READ, Permission.WRITE})
"""The permissions of a key that was issued without a choice of permissions."""


@dataclass(frozen=True)
class Credential:
    """A partner's API key and the hash of the key's secret.

    Attributes:
        api_key: the public identifier that partners send as ``X-API-KEY``.
        secret_hash: SHA-256 of the secret, in hexadecimal. The secret has 256 random bits, so a
            slow password hash would not be safer.
        label: a name by which operators recognize the key.
        ends_at: the time from which the key is rejected. None: no such time.
        last_used_at: the start of the day (UTC) on which the key was last used. None: never.
    """

    api_key: str
    account_id: str
    secret_hash: str
    label: str
    created_at: datetime
    revoked_at: datetime | None = None
    ends_at: datetime | None = None
    last_used_at: datetime | None = None
    permissions: frozenset[Permission] = DEFAULT_PERMISSIONS

    def require(self, permission: Permission) -> None:
        """Check that the key has a permission.

        Raises:
            MissingPermission: the key lacks the permission.
        """
        if permission not in self.permissions:
            raise MissingPermission(permission)

    def accepts(self, secret: str, at: datetime) -> bool:
        """Return True if the secret matches and the key is valid at this time.

        Secrets are compared in constant time.
        """
        matches = hmac.compare_digest(self.secret_hash, hash_of(secret))
        return matches and self.is_valid(at)

    def is_valid(self, at: datetime) -> bool:
        """Return whether the key is neither revoked nor expired at this time."""
        return self.revoked_at is None and (self.ends_at is None or at < self.ends_at)


@dataclass(frozen=True)
class SigningSecrets:
    """An account's webhook secrets, each with the time from which it signs webhooks.

    Attributes:
        by_start: pairs of start time and secret, earliest start time first.
    """

    by_start: tuple[tuple[datetime, str], ...]

    def signing(self, at: datetime) -> tuple[str, ...]:
        """Return the secrets that sign webhooks at this time: first the active one.

        The others are those of a rotation: scheduled secrets, and replaced ones for a day. Without
        an active secret, return none.
        """
        active = [secret for start, secret in self.by_start if start <= at][-1:]
        replaced_at = [start for start, _ in self.by_start[1:]]
        kept = [
            secret
            for (_, secret), end in zip_longest(self.by_start, replaced_at)
            if end is None or at < end + KEPT_AFTER_REPLACEMENT
        ]
        return tuple(sorted(kept, key=lambda secret: secret not in active)) if active else ()

    def __repr__(self) -> str:
        return f"SigningSecrets({len(self.by_start)})"


def is_api_key(text: str) -> bool:
    """Return whether the text has the format of an API key."""
    return bool(_API_KEY_PATTERN.fullmatch(text))


def new_secret() -> str:
    """Generate a secret of 32 random bytes in URL-safe Base64."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def hash_of(secret: str) -> str:
    """Return the SHA-256 hash of a secret in hexadecimal."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


NO_CREDENTIAL: Final = Credential(
    api_key="",
    account_id="",
    secret_hash=hash_of(new_secret()),
    label="",
    created_at=datetime.min.replace(tzinfo=UTC),
)
"""A credential that accepts no secret.

If an API key is unknown, authentication compares the secret with this credential, so that requests
with known and unknown keys take the same time.
"""
