"""The table of accounts."""

from collections.abc import Iterable
from datetime import datetime

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.settings import AccountSettings, SettingChange
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage import account_changes
from chalicelib.storage.dynamodb.attributes import JsonAttribute
from chalicelib.storage.dynamodb.table import Table
from chalicelib.storage.dynamodb.transactions import transaction


class AccountRow(Table):
    """The table row of an account. ``settings`` omits the name and all default values."""

    class Meta:
        name = "accounts"

    account_id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute()
    created_at = UnicodeAttribute()
    settings = JsonAttribute(null=True)


def save(account: Account) -> None:
    """Create or replace an account. All settings except the name get their default values."""
    AccountRow(
        account.id, name=account.name, created_at=format_timestamp(account.created_at)
    ).save()


def find(account_id: str) -> Account | None:
    """Load an account. Return None if it does not exist."""
    row = _find_row(account_id)
    return _account(row) if row else None


def find_settings(account_id: str, *, consistent: bool = False) -> AccountSettings | None:
    """Load the settings of an account. Return None if the account does not exist."""
    row = _find_row(account_id, consistent=consistent)
    if row is None:
        return None
    return AccountSettings.model_validate({"name": row.name, **(row.settings or {})})


def replace_settings(
    account_id: str,
    current: AccountSettings,
    changed: AccountSettings,
    changes: Iterable[SettingChange],
) -> None:
    """Replace the settings and store the changes for the audit, in one transaction.

    Raises:
        Contention: the stored settings differ from the current ones.
    """
    old, new = _stored(current), _stored(changed)
    is_unchanged = AccountRow.settings == old if old else AccountRow.settings.does_not_exist()
    with transaction() as write:
        write.update(
            AccountRow(account_id),
            [
                AccountRow.name.set(changed.name),
                AccountRow.settings.set(new) if new else AccountRow.settings.remove(),
            ],
            (AccountRow.name == current.name) & is_unchanged,
        )
        account_changes.add(write, account_id, changes)


def list_all() -> list[Account]:
    """Load all accounts with a table scan. Only the operator command line uses this."""
    return [_account(row) for row in AccountRow.scan()]


def _find_row(account_id: str, *, consistent: bool = False) -> AccountRow | None:
    try:
        return AccountRow.get(account_id, consistent_read=consistent)
    except AccountRow.DoesNotExist:
        return None


def _account(row: AccountRow) -> Account:
    return Account(
        id=row.account_id, name=row.name, created_at=datetime.fromisoformat(row.created_at)
    )


def _stored(settings: AccountSettings) -> dict[str, object]:
    return settings.model_dump(mode="json", exclude={"name"}, exclude_defaults=True)
