"""Rotate webhook secrets."""

from datetime import datetime

from chalicelib.domain.accounts.account import KEPT_AFTER_REPLACEMENT
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.accounts import AccountRow
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.webhook_secrets import WebhookSecretRow


def replace(rows: Rows, account: AccountRow, start: str, secret: str, now: datetime) -> int:
    """Save a new secret, which replaces the account's active and scheduled secrets.

    The active secret expires a day after the new secret becomes active. Secrets that are not active
    yet are deleted. Return their number. One request.

    Args:
        account: the row of the account. The unit of work relies on its newest secret.
        start: the time at which the new secret becomes active.
    """
    newest, account.webhook_secret_from = account.webhook_secret_from, start
    stored = WebhookSecretRow.query(account.account_id, consistent_read=True)
    starts = [row.active_from for row in stored]
    if newest and newest != start and newest not in starts:
        # The rows of a transaction become visible one by one, so the newest row may be missing.
        rows.expect(_key(account, newest), WebhookSecretRow.secret, None)
    rows.set(_key(account, start), WebhookSecretRow.secret, secret)
    rows.set(_key(account, start), WebhookSecretRow.expires_at, None)
    current_time = format_timestamp(now)
    others = [other for other in starts if other != start]
    scheduled = [other for other in others if other > current_time]
    for other in scheduled:
        rows.remove(_key(account, other))
    expires_at = datetime.fromisoformat(start) + KEPT_AFTER_REPLACEMENT
    for active in [other for other in others if other <= current_time][-1:]:
        rows.set(_key(account, active), WebhookSecretRow.expires_at, int(expires_at.timestamp()))
    return len(scheduled)


def _key(account: AccountRow, active_from: str) -> Key[WebhookSecretRow]:
    return Key(WebhookSecretRow, account.account_id, active_from)
