"""Create, close and change accounts, and scan the table of accounts."""

from collections.abc import Iterable
from datetime import datetime

from chalicelib.domain import clock
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.settings import AccountSettings
from chalicelib.storage import account_changes
from chalicelib.storage.accounts import AccountRow, build_account, build_settings
from chalicelib.storage.dynamodb.table import (
    Key,
    read_with_response,
    time_of,
)
from chalicelib.storage.dynamodb.unit_of_work import Rows, transaction


def save(account: Account) -> None:
    """Create or replace an account. All settings except the name get their default values."""
    AccountRow(account.id, name=account.name, created_at=account.created_at).save()


def find(account_id: str) -> Account | None:
    """Load an account. Return None if it does not exist."""
    row = AccountRow.find(account_id, consistent=False)
    return build_account(row) if row else None


def close(account_id: str, closed_at: datetime, changes: Iterable[AccountChange]) -> None:
    """Mark the account as closed and store the changes for the audit, in one transaction.

    Raises:
        Contention: the account is closed already, or it does not exist.
    """
    is_open = AccountRow.account_id.exists() & AccountRow.has(closed_at=None)
    with transaction() as write:
        write.update(AccountRow(account_id), AccountRow.changes(closed_at=closed_at), is_open)
        account_changes.add(write, account_id, changes)


def time_of_read(account_id: str) -> datetime:
    """Return the current time of DynamoDB in full seconds. One consistent request."""
    _, response = read_with_response(Key(AccountRow, account_id))
    return time_of(response)


def find_settings(account_id: str) -> AccountSettings | None:
    """Load the current settings of an account. Return None if the account does not exist."""
    row = AccountRow.find(account_id)
    return build_settings(row) if row else None


def replace_settings(
    account_id: str,
    current: AccountSettings,
    changed: AccountSettings,
    changes: Iterable[AccountChange],
) -> None:
    """Replace the settings and store the changes for the audit, in one transaction.

    Raises:
        Contention: the stored settings differ from the current ones.
    """
    actions = AccountRow.changes(name=changed.name, settings=_stored(changed))
    if changed.retention_days != current.retention_days:
        due = _due_first() if changed.retention_days else dict.fromkeys(_due_first())
        actions += AccountRow.changes(**due)
    unchanged = AccountRow.has(name=current.name, settings=_stored(current))
    with transaction() as write:
        write.update(AccountRow(account_id), actions, unchanged)
        account_changes.add(write, account_id, changes)


def find_newest_webhook_secret(account_id: str) -> str | None:
    """Load the sort key of the account's newest webhook secret. One consistent request."""
    row = AccountRow.find(account_id)
    return row.webhook_secret_from if row else None


def replace_newest_webhook_secret(
    write: Rows, account_id: str, current: str | None, new: str
) -> None:
    """Store the sort key of the account's new webhook secret, in this transaction.

    The transaction fails if the stored key differs from the current one.
    """
    unchanged = AccountRow.name.exists() & AccountRow.has(webhook_secret_from=current)
    write.update(AccountRow(account_id), AccountRow.changes(webhook_secret_from=new), unchanged)


def find_anonymized_until(account_id: str) -> datetime | None:
    """Load the time up to which all feedback of the account is anonymized, or None."""
    row = AccountRow.find(account_id, consistent=False)
    return row.anonymized_until if row else None


def restart_retention() -> None:
    """Restart the retention of all accounts: the sweeper checks all feedback again.

    If an account has no retention period now, a later period starts from the beginning. Reads the
    whole table.
    """
    has_retention = AccountRow.retention_due_at.exists()
    for row in AccountRow.scan(has_retention | AccountRow.anonymized_until.exists()):
        due = {} if row.retention_due_at is None else _due_first()
        row.update(AccountRow.changes(anonymized_until=None, **due))


def _due_first() -> dict[str, int]:
    """Return the attributes that make the retention of an account due before that of others."""
    return {"retention_due_at": 0, "retention_waits_since": int(clock.now().timestamp())}


def list_all() -> list[Account]:
    """Load all accounts with a table scan."""
    return [build_account(row) for row in AccountRow.scan()]


def _stored(settings: AccountSettings) -> dict[str, object] | None:
    return settings.model_dump(mode="json", exclude={"name"}, exclude_defaults=True) or None
