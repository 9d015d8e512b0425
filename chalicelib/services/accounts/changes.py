"""Read the changes that operators made to accounts."""

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.storage import account_changes


def last_changes(account_id: str, limit: int) -> list[AccountChange]:
    """Return the last changes that operators made to the account, newest first.

    One AWS request, and one more for each further MB (about 3,000 changes).
    """
    return account_changes.load_last(account_id, limit)
