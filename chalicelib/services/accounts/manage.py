"""What an operator does for an account: creating it, issuing and revoking its keys."""

from chalicelib.domain import clock
from chalicelib.domain.accounts.account import (
    Account,
    Credential,
    hash_of,
    is_api_key,
    new_api_key,
    new_secret,
)
from chalicelib.domain.errors import NotFound
from chalicelib.domain.ids import new_id
from chalicelib.storage import accounts, credentials


def create_account(name: str, account_id: str | None = None) -> Account:
    """Creates an account, under a new id unless one is given."""
    account = Account(id=account_id or new_id(), name=name, created_at=clock.now())
    accounts.save(account)
    return account


def issue_key(account_id: str, label: str = "") -> tuple[Credential, str]:
    """A new key of the account and its secret, which is kept nowhere and cannot be shown again.

    Raises:
        NotFound: there is no such account.
    """
    require_account(account_id)
    secret = new_secret()
    credential = Credential(
        api_key=new_api_key(),
        account_id=account_id,
        secret_hash=hash_of(secret),
        label=label,
        created_at=clock.now(),
    )
    credentials.save(credential)
    return credential, secret


def revoke_key(api_key: str) -> None:
    """Ends a key; partners who use it are refused within a minute.

    Raises:
        NotFound: there is no such key.
    """
    if not is_api_key(api_key):
        raise NotFound("API key")
    credentials.revoke(api_key, clock.now())


def list_keys(account_id: str) -> list[Credential]:
    """The account's keys, oldest first, revoked ones too.

    Raises:
        NotFound: there is no such account.
    """
    require_account(account_id)
    return credentials.list_for_account(account_id)


def require_account(account_id: str) -> Account:
    """The account.

    Raises:
        NotFound: there is no such account.
    """
    account = accounts.find(account_id)
    if account is None:
        raise NotFound("account")
    return account
