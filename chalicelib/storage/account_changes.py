"""The table of changes that operators made to accounts. Changes do not expire."""

from collections.abc import Iterable

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.attributes import JsonAttribute
from chalicelib.storage.dynamodb.table import Table
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


def add(write: Rows, account_id: str, changes: Iterable[AccountChange]) -> None:
    """Record who changed the settings of an account, in this transaction."""
    for change in changes:
        values = {
            "account_id": account_id,
            "change": f"{format_timestamp(change.changed_at)}#{change.subject}",
            "operator": change.operator,
            "old": change.old,
            "new": change.new,
        }
        write.put_new(AccountChangeRow, values)
