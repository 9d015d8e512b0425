"""Read and change the settings of accounts."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from admin.domain.definitions import parse_definition
from admin.storage import accounts
from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.settings import AccountSettings
from chalicelib.domain.errors import NotFound
from chalicelib.storage import account_changes
from chalicelib.storage.accounts import AccountRow, build_settings
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit


def change_settings(
    current: AccountSettings, changes: Mapping[str, Any], operator: str, now: datetime
) -> tuple[AccountSettings, list[AccountChange]]:
    """Return the new settings, and an `AccountChange` for each setting whose value changes.

    Args:
        changes: JSON values by name in camelCase. None restores the default.

    Raises:
        InvalidInput: a value is invalid.
    """
    before = current.model_dump(mode="json")
    changed = parse_definition({**before, **changes}, AccountSettings)
    after = changed.model_dump(mode="json")
    return changed, [
        AccountChange(now, name, operator, before[name], value)
        for name, value in after.items()
        if value != before[name]
    ]


def current_settings(account_id: str) -> AccountSettings:
    """Return the account's current settings (consistent read). One AWS request.

    Raises:
        NotFound: the account does not exist.
    """
    current = accounts.find_settings(account_id)
    if current is None:
        raise NotFound("account")
    return current


def change_account_settings(
    account_id: str, changes: Mapping[str, Any], operator: str
) -> list[AccountChange]:
    """Change settings of the account. Return one change for each setting whose value changed.

    Args:
        changes: JSON values by name in camelCase. None restores the default.
        operator: the identity of the operator, for the audit.

    Raises:
        InvalidInput: a value is invalid. Nothing is changed.
        NotFound: the account does not exist.
    """
    return commit(partial(_change, account_id, changes, operator))


def _change(
    account_id: str, changes: Mapping[str, Any], operator: str, rows: Rows
) -> list[AccountChange]:
    row = accounts.fetch(rows, account_id, AccountRow.name, AccountRow.settings)
    current = build_settings(row)
    changed, differences = change_settings(current, changes, operator, clock.now())
    if differences:
        accounts.replace_settings(rows, row, current, changed)
        account_changes.add(rows, account_id, differences)
    return differences
