"""Read the changes that operators made to accounts."""

from collections.abc import Iterator
from datetime import datetime

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.storage.account_changes import AccountChangeRow


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
