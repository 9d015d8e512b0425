"""Read and change the settings of accounts."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.places import Place
from chalicelib.domain.accounts.settings import AccountSettings
from chalicelib.domain.errors import Conflict
from chalicelib.services.caching import cached
from chalicelib.storage import accounts


@cached(at_most=256)
def _account(account_id: str) -> tuple[Account | None, AccountSettings]:
    found = accounts.find_with_settings(account_id)
    return found or (None, AccountSettings(name=account_id))


def account_settings(account_id: str) -> AccountSettings:
    """Return the account's settings, cached for up to a minute. One AWS request.

    If the account does not exist, return the default settings with the account's id as name.
    """
    return _account(account_id)[1]


def settings_of_open_account(account_id: str) -> AccountSettings:
    """Return the account's settings as `account_settings` does, if the account is not closed.

    Raises:
        Conflict: the account is closed.
    """
    account, settings = _account(account_id)
    if account and account.closed_at:
        raise Conflict(f"The account was closed on {account.closed_at:%Y-%m-%d}.")
    return settings


def date_at_store(account_id: str, store: Place | None, at: datetime) -> date:
    """Return the date of a time in the store's time zone, by default in the account's.

    No AWS request if the store has a time zone; otherwise see `account_settings`.
    """
    zone = (store.time_zone if store else None) or account_settings(account_id).time_zone
    return at.astimezone(ZoneInfo(zone)).date()
