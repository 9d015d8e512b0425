"""The table of webhook secrets, encrypted with KMS.

The secrets are not hashed, because signing a webhook requires the secret. Each secret has a time
from which it is active. The secret that became active last signs webhooks. A replaced secret
expires a day after its successor becomes active. The account's row contains the time of the newest
secret. Each rotation changes it, so that concurrent rotations conflict.
"""

from datetime import datetime, timedelta
from typing import Final

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.account import SigningSecrets
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage import account_changes, accounts
from chalicelib.storage.dynamodb.attributes import IntegerAttribute
from chalicelib.storage.dynamodb.table import Table
from chalicelib.storage.dynamodb.transactions import transaction

_KEPT_AFTER_REPLACEMENT: Final = timedelta(days=1)


class WebhookSecretRow(Table):
    """The table row of a webhook secret, with the time at which it becomes active."""

    class Meta:
        name = "webhook-secrets"

    account_id = UnicodeAttribute(hash_key=True)
    active_from = UnicodeAttribute(range_key=True)
    secret = UnicodeAttribute()
    expires_at = IntegerAttribute(null=True)


def save(account_id: str, active_from: datetime, secret: str, change: AccountChange) -> int:
    """Save a new secret, which replaces the account's active and scheduled secrets.

    Store the change for the audit in the same transaction.

    The active secret expires a day after the new secret becomes active. Secrets that are not active
    yet are deleted.

    Return the number of deleted secrets.

    Raises:
        Contention: another rotation has saved a secret, or the account does not exist.
    """
    start, current_time = format_timestamp(active_from), format_timestamp(change.changed_at)
    newest = accounts.find_newest_webhook_secret(account_id)
    rows = WebhookSecretRow.query(account_id, consistent_read=True)
    stored = {row.active_from: row for row in rows}
    others = [row for row in stored.values() if row.active_from != start]
    scheduled = [row for row in others if row.active_from > current_time]
    active = [row for row in others if row.active_from <= current_time][-1:]
    expires_at = int((active_from + _KEPT_AFTER_REPLACEMENT).timestamp())
    with transaction() as write:
        accounts.replace_newest_webhook_secret(write, account_id, newest, start)
        if newest and newest != start and newest not in stored:
            # The rows of a transaction become visible one by one, so the newest row may be missing.
            is_absent = WebhookSecretRow.secret.does_not_exist()
            write.condition_check(WebhookSecretRow, account_id, newest, is_absent)
        write.save(WebhookSecretRow(account_id, start, secret=secret))
        for row in scheduled:
            write.delete(row)
        for row in active:
            write.update(row, [WebhookSecretRow.expires_at.set(expires_at)])
        account_changes.add(write, account_id, [change])
    return len(scheduled)


def find_active(account_id: str, at: datetime) -> str | None:
    """Load the secret that signs the account's webhooks at this time, or None. One request."""
    rows = WebhookSecretRow.query(
        account_id,
        WebhookSecretRow.active_from <= format_timestamp(at),
        scan_index_forward=False,
        limit=1,
    )
    return next((row.secret for row in rows), None)


def list_for_account(account_id: str) -> SigningSecrets | None:
    """Load all secrets of the account, including scheduled ones. One request.

    Return None if the account has no secret.
    """
    rows = WebhookSecretRow.query(account_id)
    by_start = tuple((datetime.fromisoformat(row.active_from), row.secret) for row in rows)
    return SigningSecrets(by_start) if by_start else None
