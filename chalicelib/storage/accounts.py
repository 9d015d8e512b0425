"""The table of accounts."""

from datetime import datetime

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.table import Table


class AccountRow(Table):
    """The table row of an account."""

    class Meta:
        name = "accounts"

    account_id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute()
    created_at = UnicodeAttribute()


def save(account: Account) -> None:
    """Create or replace an account."""
    AccountRow(
        account.id, name=account.name, created_at=format_timestamp(account.created_at)
    ).save()


def find(account_id: str) -> Account | None:
    """Load an account. Return None if it does not exist."""
    try:
        row = AccountRow.get(account_id)
    except AccountRow.DoesNotExist:
        return None
    return _account(row)


def list_all() -> list[Account]:
    """Load all accounts with a table scan. Only the operator command line uses this."""
    return [_account(row) for row in AccountRow.scan()]


def _account(row: AccountRow) -> Account:
    return Account(
        id=row.account_id, name=row.name, created_at=datetime.fromisoformat(row.created_at)
    )
