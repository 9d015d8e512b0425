"""The table of the secrets that webhooks are signed with, encrypted by KMS.

A signature needs the secret itself, so a hash would not serve. Each row holds from a moment on.
"""

from datetime import datetime

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.account import SigningSecrets
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.table import Table
from chalicelib.storage.dynamodb.transactions import transaction


class WebhookSecretRow(Table):
    """A secret of an account, and the moment from which on it signs."""

    class Meta:
        name = "webhook-secrets"

    account_id = UnicodeAttribute(hash_key=True)
    active_from = UnicodeAttribute(range_key=True)
    secret = UnicodeAttribute()


def put(account_id: str, active_from: datetime, secret: str, now: datetime) -> int:
    """Keeps a secret that signs from this moment on, in place of all that do not sign yet.

    Answers how many those were.
    """
    start = format_timestamp(active_from)
    to_come = WebhookSecretRow.query(
        account_id, WebhookSecretRow.active_from > format_timestamp(now), consistent_read=True
    )
    replaced = [row for row in to_come if row.active_from != start]
    with transaction() as write:
        write.save(WebhookSecretRow(account_id, start, secret=secret))
        for row in replaced:
            write.delete(row)
    return len(replaced)


def active(account_id: str, at: datetime) -> str | None:
    """The secret that signs at this moment, or None. One request."""
    rows = WebhookSecretRow.query(
        account_id,
        WebhookSecretRow.active_from <= format_timestamp(at),
        scan_index_forward=False,
        limit=1,
    )
    return next((row.secret for row in rows), None)


def of_account(account_id: str) -> SigningSecrets | None:
    """Every secret of the account, those to come included; None when it has none. One request."""
    rows = WebhookSecretRow.query(account_id)
    found = tuple((datetime.fromisoformat(row.active_from), row.secret) for row in rows)
    return SigningSecrets(found) if found else None
