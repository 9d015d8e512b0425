"""The table of accounts."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pynamodb.attributes import UnicodeAttribute
from pynamodb.transactions import TransactWrite

from chalicelib.domain import clock
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.settings import AccountSettings
from chalicelib.storage import account_changes
from chalicelib.storage.dynamodb.attributes import (
    IntegerAttribute,
    JsonAttribute,
    TimestampAttribute,
)
from chalicelib.storage.dynamodb.indexes import index
from chalicelib.storage.dynamodb.table import (
    Table,
    read_together,
    read_with_response,
    time_of,
)
from chalicelib.storage.dynamodb.transactions import transaction, try_write


class AccountRow(Table):
    """The table row of an account. ``settings`` omits the name and all default values.

    An account with a retention period has ``retention_due_at``, the time in epoch seconds at which
    the sweeper continues to anonymize feedback. The index `retention` contains only these accounts.
    All feedback that was created at ``anonymized_until`` or earlier is anonymized. If the last pass
    did not anonymize all old feedback, ``retention_waits_since`` is the time in epoch seconds from
    which it waits.

    ``webhook_secret_from`` is the sort key of the account's newest webhook secret.
    """

    class Meta:
        name = "accounts"

    account_id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute()
    created_at = TimestampAttribute()
    closed_at = TimestampAttribute(null=True)
    settings = JsonAttribute(null=True)
    retention_due_at = IntegerAttribute(null=True)
    anonymized_until = TimestampAttribute(null=True)
    retention_waits_since = IntegerAttribute(null=True)
    webhook_secret_from = UnicodeAttribute(null=True)
    retention = index("account_id", "retention_due_at", sort_type=IntegerAttribute)


def save(account: Account) -> None:
    """Create or replace an account. All settings except the name get their default values."""
    AccountRow(account.id, name=account.name, created_at=account.created_at).save()


def find(account_id: str) -> Account | None:
    """Load an account. Return None if it does not exist."""
    row = AccountRow.find(account_id, consistent=False)
    return _account(row) if row else None


def close(account_id: str, closed_at: datetime, changes: Iterable[AccountChange]) -> None:
    """Mark the account as closed and store the changes for the audit, in one transaction.

    Raises:
        Contention: the account is closed already, or it does not exist.
    """
    is_open = AccountRow.account_id.exists() & AccountRow.has(closed_at=None)
    with transaction() as write:
        write.update(AccountRow(account_id), AccountRow.changes(closed_at=closed_at), is_open)
        account_changes.add(write, account_id, changes)


def find_with_settings(account_id: str) -> tuple[Account, AccountSettings] | None:
    """Load an account and its settings. Return None if it does not exist. One request."""
    row = AccountRow.find(account_id, consistent=False)
    return (_account(row), _settings(row)) if row else None


def time_of_read(account_id: str) -> datetime:
    """Return the current time of DynamoDB in full seconds. One consistent request."""
    _, response = read_with_response((AccountRow, account_id))
    return time_of(response)


def find_settings(account_id: str) -> AccountSettings | None:
    """Load the current settings of an account. Return None if the account does not exist."""
    row = AccountRow.find(account_id)
    return _settings(row) if row else None


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
    write: TransactWrite, account_id: str, current: str | None, new: str
) -> None:
    """Store the sort key of the account's new webhook secret, in this transaction.

    The transaction fails if the stored key differs from the current one.
    """
    unchanged = AccountRow.name.exists() & AccountRow.has(webhook_secret_from=current)
    write.update(AccountRow(account_id), AccountRow.changes(webhook_secret_from=new), unchanged)


@dataclass(frozen=True)
class DueRetention:
    """An account whose old feedback must be anonymized.

    Attributes:
        anonymized_until: all feedback that was created at this time or earlier is anonymized.
        waits_since: the time in epoch seconds from which the account's old feedback waits.
    """

    account_id: str
    retention_days: int
    anonymized_until: datetime | None
    waits_since: int


def list_due_retention(now: datetime) -> list[DueRetention]:
    """Load the accounts whose retention is due, the longest overdue first.

    One request per MB of the index, about 10,000 accounts with a retention period, and one per 100
    due accounts.
    """
    entries = AccountRow.retention.scan(AccountRow.retention_due_at <= int(now.timestamp()))
    in_order = sorted(entries, key=lambda entry: entry.retention_due_at)
    rows = read_together(*((AccountRow, entry.account_id) for entry in in_order))
    return [
        DueRetention(
            row.account_id,
            days,
            row.anonymized_until,
            row.retention_waits_since or row.retention_due_at or 0,
        )
        for row in rows
        if row and (days := _settings(row).retention_days)
    ]


def find_anonymized_until(account_id: str) -> datetime | None:
    """Load the time up to which all feedback of the account is anonymized, or None."""
    row = AccountRow.find(account_id, consistent=False)
    return row.anonymized_until if row else None


def save_retention(
    due: DueRetention, anonymized_until: datetime | None, due_at: datetime, *, is_done: bool
) -> None:
    """Store the progress of the retention and the time of its next pass. One request.

    Store nothing if the retention was restarted or ended since it was loaded.

    Args:
        is_done: whether no old feedback waits any more.
    """
    row = AccountRow(due.account_id)
    progress = {"anonymized_until": anonymized_until} if anonymized_until else {}
    actions = AccountRow.changes(
        retention_due_at=int(due_at.timestamp()),
        retention_waits_since=None if is_done else due.waits_since,
        **progress,
    )
    is_seen = AccountRow.has(anonymized_until=due.anonymized_until)
    condition = AccountRow.retention_due_at.exists() & is_seen
    try_write(lambda: row.update(actions, condition=condition))


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
    """Return the attributes of an account whose retention is due before that of others."""
    return {"retention_due_at": 0, "retention_waits_since": int(clock.now().timestamp())}


def list_all() -> list[Account]:
    """Load all accounts with a table scan. Only the command line uses this."""
    return [_account(row) for row in AccountRow.scan()]


def _settings(row: AccountRow) -> AccountSettings:
    return AccountSettings.model_validate({"name": row.name, **(row.settings or {})})


def _account(row: AccountRow) -> Account:
    return Account(row.account_id, row.name, row.created_at, row.closed_at)


def _stored(settings: AccountSettings) -> dict[str, object] | None:
    return settings.model_dump(mode="json", exclude={"name"}, exclude_defaults=True) or None
