"""Rotate and read an account's webhook secrets."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from admin.services.accounts.manage import require_account
from admin.storage import accounts, webhook_secrets
from chalicelib.domain import clock
from chalicelib.domain.accounts.account import new_secret
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import Conflict
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.webhook_secrets import list_for_account

SUBJECT: Final = "webhook secret"
"""The kind of record of the changes of webhook secrets."""


@dataclass(frozen=True)
class NewSecret:
    """A new webhook secret.

    Attributes:
        secret: the secret. The command line shows it only once.
        replaced: the number of scheduled secrets that the new secret replaces. Because workers
            cache secrets, a replaced secret that was due to become active within a minute can still
            sign webhooks for up to a minute.
    """

    secret: str = field(repr=False)
    replaced: int


def signing_webhook_secrets(account_id: str, at: datetime) -> tuple[str, ...]:
    """Return the secrets that sign the account's webhooks at this time. One AWS request.

    See `SigningSecrets.signing`.
    """
    stored = list_for_account(account_id)
    return stored.signing(at) if stored else ()


def rotate_webhook_secret(
    account_id: str, operator: str, active_from: datetime | None = None
) -> NewSecret:
    """Create a new webhook secret for the account and delete its other scheduled secrets.

    Args:
        operator: the identity of the operator, for the audit.
        active_from: the time at which the new secret becomes active. Default: now. Until then, the
            current secret signs webhooks.

    Raises:
        Conflict: the time is in the past.
        NotFound: the account does not exist.
    """
    require_account(account_id)
    if active_from and active_from < clock.now():
        raise Conflict("The start time is in the past. Set a future time, or omit it to start now.")
    secret = new_secret()

    def attempt() -> NewSecret:
        newest, now = accounts.find_newest_webhook_secret(account_id), clock.now()
        start = active_from or now
        subject = f"{SUBJECT} {format_timestamp(start)}"
        change = AccountChange(now, subject, operator, None, "created")
        return NewSecret(secret, webhook_secrets.save(account_id, newest, start, secret, change))

    return retry_on_contention(attempt)
