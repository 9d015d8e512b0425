"""Rotate an account's webhook signing secret."""

from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain import clock
from chalicelib.domain.accounts.account import new_secret
from chalicelib.domain.errors import Conflict
from chalicelib.services.accounts.manage import require_account
from chalicelib.storage import webhook_secrets


@dataclass(frozen=True)
class NewSecret:
    """A new secret, which is shown only once.

    Attributes:
        replaced: the number of scheduled secrets that it replaces. A secret that was scheduled for
            the current minute may still sign until the minute ends.
    """

    secret: str = field(repr=False)
    replaced: int


def active_webhook_secret(account_id: str) -> str | None:
    """Return the secret that signs the account's webhooks now, or None. One request to AWS."""
    return webhook_secrets.find_active(account_id, clock.now())


def rotate_webhook_secret(account_id: str, active_from: datetime | None = None) -> NewSecret:
    """Give the account a new secret, which also replaces all scheduled secrets.

    Args:
        active_from: the time from which it signs, by default now. The current secret signs until
            then.

    Raises:
        Conflict: the time is in the past.
        NotFound: the account does not exist.
    """
    require_account(account_id)
    now = clock.now()
    if active_from and active_from < now:
        raise Conflict("The start time is in the past. Give a future time, or none to start now.")
    secret = new_secret()
    return NewSecret(secret, webhook_secrets.save(account_id, active_from or now, secret, now))
