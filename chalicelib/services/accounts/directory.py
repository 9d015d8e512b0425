"""The present names of an account's brands and stores."""

from chalicelib.domain.accounts.places import Directory
from chalicelib.services.caching import cached
from chalicelib.storage import places


@cached(at_most=256)
def account_directory(account_id: str) -> Directory:
    """The account's brands and stores, at most a minute old."""
    return places.load_directory(account_id)
