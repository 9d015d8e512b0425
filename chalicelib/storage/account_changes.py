"""The table of changes that operators made to accounts. Changes do not expire."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from pynamodb.attributes import UnicodeAttribute
from pynamodb.transactions import TransactWrite

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.attributes import JsonAttribute
from chalicelib.storage.dynamodb.table import Table
from chalicelib.storage.dynamodb.transactions import put_new


class AccountChangeRow(Table):
    """The table row of one change. The sort key is the time and the subject."""

    class Meta:
        name = "account-changes"

    account_id = UnicodeAttribute(hash_key=True)
    change = UnicodeAttribute(range_key=True)
    operator = UnicodeAttribute()
    old = JsonAttribute()
    new = JsonAttribute()


def add(write: TransactWrite, account_id: str, changes: Iterable[AccountChange]) -> None:
    """Record who changed the settings of an account, in this transaction."""
    for change in changes:
        values = {
            "account_id": account_id,
            "change": f"{format_timestamp(change.changed_at)}#{change.subject}",
            "operator": change.operator,
            "old": change.old,
            "new": change.new,
        }
        put_new(write, AccountChangeRow, values)


def load_last(account_id: str, limit: int | None = None) -> list[AccountChange]:
    """Load the last changes of the account, newest first.

    One AWS request per MB (about 3,000 changes; fewer with loaded forms).

    Args:
        limit: the maximum number of changes. Default: all changes.
    """
    rows = AccountChangeRow.query(
        account_id, consistent_read=True, scan_index_forward=False, limit=limit
    )
    return [_change(row) for row in rows]


def scan() -> Iterator[tuple[str, AccountChange]]:
    """Yield the changes of all accounts, each with the id of its account.

    Each account's changes are in the order of their times. One AWS request per MB.
    """
    return ((row.account_id, _change(row)) for row in AccountChangeRow.scan(consistent_read=True))


def _change(row: AccountChangeRow) -> AccountChange:
    changed_at, _, subject = row.change.partition("#")
    return AccountChange(
        datetime.fromisoformat(changed_at), subject, row.operator, row.old, row.new
    )
