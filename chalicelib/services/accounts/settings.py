"""Read and change the settings of accounts."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from chalicelib.domain import clock
from chalicelib.domain.accounts import settings
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.places import Place
from chalicelib.domain.accounts.settings import AccountSettings
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.services.caching import cached
from chalicelib.storage import accounts
from chalicelib.storage.dynamodb.transactions import retry_on_contention


@cached(at_most=256)
def _account(account_id: str) -> tuple[Account | None, AccountSettings]:
    found = accounts.find_with_settings(account_id)
    return found or (None, AccountSettings(name=account_id))


def account_settings(account_id: str) -> AccountSettings:
    """Return the account's settings, cached for up to a minute. One AWS request.

    If the account does not exist, return the default settings with the account's id as name.
    """
    return _account(account_id)[1]


def require_not_closed(account_id: str) -> None:
    """Check that the account is not closed. The account is cached with its settings.

    Raises:
        Conflict: the account is closed.
    """
    account, _ = _account(account_id)
    if account and account.closed_at:
        raise Conflict(f"The account was closed on {account.closed_at:%Y-%m-%d}.")


def date_at_store(account_id: str, store: Place | None, at: datetime) -> date:
    """Return the date of a time in the store's time zone, by default in the account's.

    No AWS request if the store has a time zone; otherwise see `account_settings`.
    """
    zone = (store.time_zone if store else None) or account_settings(account_id).time_zone
    return at.astimezone(ZoneInfo(zone)).date()


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

    def attempt() -> list[AccountChange]:
        current = current_settings(account_id)
        changed, differences = settings.change_settings(current, changes, operator, clock.now())
        if differences:
            accounts.replace_settings(account_id, current, changed, differences)
        return differences

    return retry_on_contention(attempt)
