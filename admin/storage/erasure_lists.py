"""List erasures."""

from collections.abc import Iterator

from chalicelib.domain.erasure.erasure import Erasure
from chalicelib.storage.erasures import ErasureRow, build_erasure


def list_all() -> Iterator[Erasure]:
    """Yield all erasures. Reads the whole table, with one request per MB."""
    return (build_erasure(row) for row in ErasureRow.scan(consistent_read=True))


def list_for_account(account_id: str) -> Iterator[Erasure]:
    """Yield the account's erasures, newest first (eventually consistent). One request per MB."""
    rows = ErasureRow.by_account.query(account_id, scan_index_forward=False)
    return (build_erasure(row) for row in rows)
