"""Read the brands, stores and tags of an account."""

from chalicelib.domain.accounts.places import Directory
from chalicelib.services.caching import cached
from chalicelib.storage import places


@cached(at_most=256)
def account_directory(account_id: str) -> Directory:
    """Return the account's brands, stores and tags, cached for up to a minute."""
    return places.load_directory(account_id)


def directory_with_store(account_id: str, store_id: str) -> Directory:
    """Return the account's brands, stores and tags, read again if the cached ones lack the store.

    The store may be newer than them.
    """
    directory = account_directory(account_id)
    return directory if store_id in directory.by_id else account_directory.refresh(account_id)


def current_directory(account_id: str) -> Directory:
    """Return the account's current brands, stores and tags (consistent read). One AWS request."""
    return places.load_directory(account_id)
