"""The table of webhook secrets, encrypted with KMS.

The secrets are not hashed, because signing a webhook requires the secret. Each secret has a time
from which it is active. The secret that became active last signs webhooks. A replaced secret
expires a day after its successor becomes active. The account's row contains the time of the newest
secret. Each rotation changes it, so that concurrent rotations conflict.
"""

from datetime import datetime

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.account import SigningSecrets
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, optional
from chalicelib.storage.dynamodb.table import Table


class WebhookSecretRow(Table):
    """The table row of a webhook secret, with the time at which it becomes active."""

    class Meta:
        name = "webhook-secrets"

    account_id = UnicodeAttribute(hash_key=True)
    active_from = UnicodeAttribute(range_key=True)
    secret = UnicodeAttribute()
    expires_at = optional(IntegerAttribute)


def list_for_account(account_id: str) -> SigningSecrets | None:
    """Load all secrets of the account, including scheduled ones. One request.

    Return None if the account has no secret.
    """
    rows = WebhookSecretRow.query(account_id)
    by_start = tuple((datetime.fromisoformat(row.active_from), row.secret) for row in rows)
    return SigningSecrets(by_start) if by_start else None
