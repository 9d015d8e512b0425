"""The lists of an account: positions, the index by block of 100 positions, and pages.

Writes of an account's new records are spread over many index keys, one for each block.
"""

from collections.abc import Iterator
from typing import Any

from chalicelib.domain.paging import PageRequest, block_of
from chalicelib.storage.dynamodb.table import Table, account_key


def place(account_id: str, position: int) -> dict[str, Any]:
    """Return the index attributes of a record at this position of the account's list."""
    return {"position": position, "list_block": block_key(account_id, block_of(position))}


def load_page(row: type[Table], account_id: str, request: PageRequest, total: int) -> Iterator[Any]:
    """Load the rows of a page, in order: one request per block, and one more per further MB."""
    model: Any = row
    for block, first, last in request.ranges(total):
        yield from model.by_block.query(
            block_key(account_id, block), model.position.between(first, last)
        )


def block_key(account_id: str, block: int) -> str:
    """Return the index key of a block of an account's list."""
    return account_key(account_id, str(block))
