"""Rotate and read an account's webhook secrets."""

from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

from admin.storage import accounts, webhook_secrets
from chalicelib.domain import clock
from chalicelib.domain.accounts.account import new_secret
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import Conflict
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage import account_changes
from chalicelib.storage.accounts import AccountRow
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
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
    return commit(partial(_rotate, account_id, operator, active_from, new_secret()))


def _rotate(
    account_id: str, operator: str, active_from: datetime | None, secret: str, rows: Rows
) -> NewSecret:
    account = accounts.fetch(rows, account_id, AccountRow.webhook_secret_from)
    now = clock.now()  # after the read: a later secret would look like one that is not active yet
    if active_from and active_from < now:
        raise Conflict("The start time is in the past. Set a future time, or omit it to start now.")
    start = format_timestamp(active_from or now)
    replaced = webhook_secrets.replace(rows, account, start, secret, now)
    change = AccountChange(now, f"{SUBJECT} {start}", operator, None, "created")
    account_changes.add(rows, account_id, [change])
    return NewSecret(secret, replaced)
