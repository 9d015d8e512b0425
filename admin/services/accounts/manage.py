"""Create, find, list and count accounts, and list their changes; issue and revoke API keys."""

import secrets
from datetime import datetime
from typing import Final

from admin.storage import accounts, counts, history, keys
from chalicelib.domain import clock
from chalicelib.domain.accounts.account import (
    DEFAULT_PERMISSIONS,
    Account,
    Credential,
    Permission,
    hash_of,
    is_api_key,
    new_secret,
)
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage import account_changes, credentials
from chalicelib.storage.accounts import AccountRow, build_account
from chalicelib.storage.counters import Counted, Listed
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit

CUSTOMERS: Final = "customers"
KEY: Final = "key"
"""The kind of record of the changes of API keys."""
ISSUED: Final = "issued"
REVOKED: Final = "revoked"
_STATS: Final[dict[str, Listed | Counted]] = {
    CUSTOMERS: Listed.CUSTOMERS,
    "contact_forms": Listed.CONTACT_FORMS,
    "surveys": Listed.SURVEYS,
    "purchases": Counted.PURCHASES,
    "feedback": Counted.FEEDBACK,
    "surveys_sent": Counted.SENT,
    "surveys_skipped": Counted.SKIPPED,
    "surveys_rejected": Counted.REJECTED,
    "surveys_unknown": Counted.UNKNOWN,
}


def create_account(name: str, account_id: str | None = None) -> Account:
    """Create an account.

    Args:
        account_id: the id of the account. Default: a new id.
    """
    account = Account(id=account_id or new_id(), name=name, created_at=clock.now())
    accounts.save(account)
    return account


def list_accounts() -> list[Account]:
    """Return all accounts, oldest first."""
    return sorted(accounts.list_all(), key=lambda account: (account.created_at, account.id))


def find_account(account_id: str) -> Account | None:
    """Return the account, or None if it does not exist."""
    return accounts.find(account_id)


def require_account(account_id: str) -> Account:
    """Return the account.

    Raises:
        NotFound: the account does not exist.
    """
    account = find_account(account_id)
    if account is None:
        raise NotFound("account")
    return account


def require_open_account(account_id: str) -> Account:
    """Return the account.

    Raises:
        NotFound: the account does not exist.
        Conflict: the account is closed.
    """
    account = require_account(account_id)
    _require_open(account)
    return account


def _require_open(account: Account) -> None:
    if account.closed_at:
        raise Conflict(f"The account {account.name} was closed on {account.closed_at:%Y-%m-%d}.")


def read_stats(account_id: str) -> dict[str, int]:
    """Return the numbers of the account's records by name, from its counters. Two requests.

    A new customer is counted when it is listed, within seconds; feedback when it is processed;
    surveys, by outcome, when they are no longer pending.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    numbers = counts.load_counts(account_id)
    return {name: numbers[kind].number for name, kind in _STATS.items()}


def last_changes(account_id: str, limit: int) -> list[AccountChange]:
    """Return the last changes that operators made to the account, newest first.

    One AWS request, and one more for each further MB (about 3,000 changes).
    """
    return history.load_last(account_id, limit)


def last_changes_of(account_id: str, subject: str) -> list[AccountChange]:
    """Return all changes of one record of the account, newest first.

    One AWS request per MB of changes of the account.
    """
    return [c for c in history.load_last(account_id) if c.subject == subject]


def add_change(account_id: str, subject: str, operator: str, new: object) -> None:
    """Add a change to the account's history. One AWS request."""

    def add(rows: Rows) -> None:
        change = AccountChange(clock.now(), subject, operator, None, new)
        account_changes.add(rows, account_id, [change])

    commit(add)


def issue_key(
    account_id: str,
    operator: str,
    label: str = "",
    permissions: frozenset[Permission] = DEFAULT_PERMISSIONS,
    ends_at: datetime | None = None,
) -> tuple[Credential, str]:
    """Issue an API key and return it with its secret. Only a hash of the secret is stored.

    Two AWS requests.

    Args:
        operator: the identity of the operator, for the audit.
        ends_at: the time from which the key is rejected. Default: it does not expire.

    Raises:
        NotFound: the account does not exist.
        Conflict: the account is closed, or the time is in the past.
    """
    until = f" until {format_timestamp(ends_at)}" if ends_at else ""
    issued = f"{ISSUED} with {', '.join(sorted(permissions))}{until}"
    secret = new_secret()

    def issue(rows: Rows) -> Credential:
        _require_open(build_account(accounts.fetch(rows, account_id, AccountRow.closed_at)))
        if ends_at and ends_at <= clock.now():
            raise Conflict("The expiry is in the past. Set a future time, or omit it.")
        credential = Credential(
            api_key=new_api_key(),
            account_id=account_id,
            secret_hash=hash_of(secret),
            label=label,
            created_at=clock.now(),
            ends_at=ends_at,
            permissions=permissions,
        )
        keys.create(rows, credential)
        subject = _subject(credential.api_key)
        change = AccountChange(credential.created_at, subject, operator, None, issued)
        account_changes.add(rows, account_id, [change])
        return credential

    return commit(issue), secret


def require_key(api_key: str) -> Credential:
    """Return an API key of any account, even if it is revoked. One AWS request.

    Raises:
        NotFound: the key does not exist.
    """
    credential = credentials.find(api_key) if is_api_key(api_key) else None
    if credential is None:
        raise NotFound("API key")
    return credential


def revoke_key(api_key: str, operator: str) -> None:
    """Revoke an API key. Requests that use it are rejected within a minute. Two AWS requests.

    If the key is already revoked, its revocation time does not change.

    Args:
        operator: the identity of the operator, for the audit.

    Raises:
        NotFound: the key does not exist.
    """
    if not is_api_key(api_key):
        raise NotFound("API key")

    def revoke(rows: Rows) -> None:
        now = clock.now()
        if account_id := keys.revoke(rows, api_key, now):
            change = AccountChange(now, _subject(api_key), operator, ISSUED, REVOKED)
            account_changes.add(rows, account_id, [change])

    commit(revoke)


def _subject(api_key: str) -> str:
    return f"{KEY} {api_key}"


def list_keys(account_id: str) -> list[Credential]:
    """Return the account's API keys, oldest first, including revoked keys.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    return keys.list_for_account(account_id)


def new_api_key() -> str:
    """Generate an API key: ``fk_`` followed by 24 hexadecimal digits."""
    return f"fk_{secrets.token_hex(12)}"
