"""Rotate and read webhook secrets."""

from datetime import datetime

from admin.storage import accounts
from chalicelib.domain.accounts.account import KEPT_AFTER_REPLACEMENT
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage import account_changes
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import transaction
from chalicelib.storage.webhook_secrets import WebhookSecretRow


def save(
    account_id: str, newest: str | None, active_from: datetime, secret: str, change: AccountChange
) -> int:
    """Save a new secret, which replaces the account's active and scheduled secrets.

    Store the change for the audit in the same transaction.

    The active secret expires a day after the new secret becomes active. Secrets that are not active
    yet are deleted.

    Return the number of deleted secrets.

    Args:
        newest: the sort key of the newest secret, as it was read before the time of the change. A
            later secret would look like one that is not active yet.

    Raises:
        Contention: another rotation has saved a secret, or the account does not exist.
    """
    start, current_time = format_timestamp(active_from), format_timestamp(change.changed_at)
    rows = WebhookSecretRow.query(account_id, consistent_read=True)
    stored = {row.active_from: row for row in rows}
    others = [row for row in stored.values() if row.active_from != start]
    scheduled = [row for row in others if row.active_from > current_time]
    active = [row for row in others if row.active_from <= current_time][-1:]
    expires_at = int((active_from + KEPT_AFTER_REPLACEMENT).timestamp())
    with transaction() as write:
        accounts.replace_newest_webhook_secret(write, account_id, newest, start)
        if newest and newest != start and newest not in stored:
            # The rows of a transaction become visible one by one, so the newest row may be missing.
            is_absent = WebhookSecretRow.secret.does_not_exist()
            write.condition_check(Key(WebhookSecretRow, account_id, newest), is_absent)
        write.save(WebhookSecretRow(account_id, start, secret=secret))
        for row in scheduled:
            write.delete(row)
        for row in active:
            write.update(row, [WebhookSecretRow.expires_at.set(expires_at)])
        account_changes.add(write, account_id, [change])
    return len(scheduled)
