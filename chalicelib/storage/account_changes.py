"""The table of changes that operators made to accounts. Changes do not expire."""

from collections.abc import Iterable

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.attributes import JsonAttribute
from chalicelib.storage.dynamodb.table import Key, Table
from chalicelib.storage.dynamodb.unit_of_work import Rows


class AccountChangeRow(Table):
    """The table row of one change. The sort key is the time and the subject."""

    class Meta:
        name = "account-changes"

    account_id = UnicodeAttribute(hash_key=True)
    change = UnicodeAttribute(range_key=True)
    operator = UnicodeAttribute()
    old = JsonAttribute[object]()
    new = JsonAttribute[object]()


def add(rows: Rows, account_id: str, changes: Iterable[AccountChange]) -> None:
    """Record who changed the settings of an account, in this unit of work."""
    for change in changes:
        at = f"{format_timestamp(change.changed_at)}#{change.subject}"
        row = rows.create(Key(AccountChangeRow, account_id, at))
        row.operator, row.old, row.new = change.operator, change.old, change.new
