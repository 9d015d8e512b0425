"""The lists of an account: positions, the index by block of 100 positions, and pages by cursor.

Writes of an account's new records are spread over many index keys, one for each block.
"""

from collections.abc import Iterator
from typing import Any

from chalicelib.domain.list_cursor import CursorPosition
from chalicelib.domain.paging import PageRequest, block_of
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.table import Table, account_key


def at_position(account_id: str, position: int) -> dict[str, Any]:
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


def read_index_page(
    index: Any,
    key: tuple[str, str],
    id_name: str,
    after: CursorPosition | None,
    limit: int,
    prefix: str = "",
) -> tuple[list[CursorPosition], bool]:
    """Return up to ``limit`` positions of an index, and whether it ends with them. One request.

    Entries whose key does not start with ``prefix`` are omitted.

    Args:
        key: the name and the value of the partition key of the index.
        id_name: the name of the partition key of the table.
        after: the position of the last record of the preceding page; None to start.
        prefix: the part of the partition key of the table before the id; ``""`` if the id is the
            complete key.
    """
    name, value = key
    start = None
    if after:
        created_at, record_id = after
        start = {
            name: {"S": value},
            "created_at": {"S": format_timestamp(created_at)},
            id_name: {"S": prefix + record_id},
        }
    found = index.query(value, limit=limit, last_evaluated_key=start)
    entries = ((row.created_at, getattr(row, id_name)) for row in found)
    positions = [(at, key.removeprefix(prefix)) for at, key in entries if key.startswith(prefix)]
    return positions, found.last_evaluated_key is None
