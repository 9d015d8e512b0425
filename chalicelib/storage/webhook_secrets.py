"""The table of webhook signing secrets, encrypted with KMS.

The secrets are not hashed, because signing a webhook requires the secret. Each secret has a time
from which it is active. The secret that became active last signs webhooks.
"""

from datetime import datetime

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.account import SigningSecrets
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.table import Table
from chalicelib.storage.dynamodb.transactions import transaction


class WebhookSecretRow(Table):
    """The table row of a signing secret, with the time at which it becomes active."""

    class Meta:
        name = "webhook-secrets"

    account_id = UnicodeAttribute(hash_key=True)
    active_from = UnicodeAttribute(range_key=True)
    secret = UnicodeAttribute()


def save(account_id: str, active_from: datetime, secret: str, now: datetime) -> int:
    """Save a new secret and delete the account's other secrets that are not active yet.

    Return the number of deleted secrets.
    """
    start = format_timestamp(active_from)
    scheduled = WebhookSecretRow.query(
        account_id, WebhookSecretRow.active_from > format_timestamp(now), consistent_read=True
    )
    replaced = [row for row in scheduled if row.active_from != start]
    with transaction() as write:
        write.save(WebhookSecretRow(account_id, start, secret=secret))
        for row in replaced:
            write.delete(row)
    return len(replaced)


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
