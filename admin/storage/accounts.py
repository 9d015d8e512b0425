"""Create, close and change accounts, and scan the table of accounts."""

from datetime import datetime
from typing import Any, Final

from pynamodb.attributes import Attribute
from pynamodb.expressions.update import Action

from chalicelib.domain import clock
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.settings import AccountSettings
from chalicelib.domain.errors import NotFound
from chalicelib.storage.accounts import AccountRow, build_account, build_settings
from chalicelib.storage.dynamodb.table import Key, find_row
from chalicelib.storage.dynamodb.unit_of_work import Rows

_FIRST: Final = 0
"""The time in epoch seconds that makes the retention of an account due before that of others."""


def save(account: Account) -> None:
    """Create or replace an account. All settings except the name get their default values."""
    AccountRow(account.id, name=account.name, created_at=account.created_at).save()


def find(account_id: str) -> Account | None:
    """Load an account. Return None if it does not exist."""
    row = find_row(Key(AccountRow, account_id), consistent=False)
    return build_account(row) if row else None


def fetch(rows: Rows, account_id: str, *attributes: Attribute[Any]) -> AccountRow:
    """Return the row of an account. The unit of work relies on these attributes. One request.

    Raises:
        NotFound: the account does not exist.
    """
    key = Key(AccountRow, account_id)
    rows.prefetch(key)
    row = rows.get(key, *attributes)
    if row is None:
        raise NotFound("account")
    return row


def close(rows: Rows, account_id: str, closed_at: datetime) -> bool:
    """Mark an account as closed in this unit of work. Return False if it is closed already.

    One request.

    Raises:
        NotFound: the account does not exist.
    """
    row = fetch(rows, account_id, AccountRow.closed_at)
    if row.closed_at:
        return False
    row.closed_at = closed_at
    return True


def time_of_read(account_id: str) -> datetime:
    """Return the current time of DynamoDB in full seconds. One consistent request."""
    read = Rows()
    read.prefetch(Key(AccountRow, account_id))
    return read.read_at


def find_settings(account_id: str) -> AccountSettings | None:
    """Load the current settings of an account. Return None if the account does not exist."""
    row = find_row(Key(AccountRow, account_id))
    return build_settings(row) if row else None


def replace_settings(
    rows: Rows, row: AccountRow, current: AccountSettings, changed: AccountSettings
) -> None:
    """Replace the settings of an account. A changed retention period starts at once."""
    row.name, row.settings = changed.name, _stored(changed)
    if changed.retention_days != current.retention_days:
        # The sweeper can have changed these attributes since the read.
        key, is_on = row.own_key(), bool(changed.retention_days)
        rows.set(key, AccountRow.retention_due_at, _FIRST if is_on else None)
        rows.set(key, AccountRow.retention_waits_since, _now_s() if is_on else None)


def find_anonymized_until(account_id: str) -> datetime | None:
    """Load the time up to which all feedback of the account is anonymized, or None."""
    row = find_row(Key(AccountRow, account_id), consistent=False)
    return row.anonymized_until if row else None


def restart_retention() -> None:
    """Restart the retention of all accounts: the sweeper checks all feedback again.

    If an account has no retention period now, a later period starts from the beginning. Reads the
    whole table.
    """
    has_retention = AccountRow.retention_due_at.exists()
    for row in AccountRow.scan(has_retention | AccountRow.anonymized_until.exists()):
        actions: list[Action] = [AccountRow.anonymized_until.remove()]
        if row.retention_due_at is not None:
            actions += [
                AccountRow.retention_due_at.set(_FIRST),
                AccountRow.retention_waits_since.set(_now_s()),
            ]
        row.update(actions)


def list_all() -> list[Account]:
    """Load all accounts with a table scan."""
    return [build_account(row) for row in AccountRow.scan()]


def _now_s() -> int:
    return int(clock.now().timestamp())


def _stored(settings: AccountSettings) -> dict[str, object] | None:
    return settings.model_dump(mode="json", exclude={"name"}, exclude_defaults=True) or None
