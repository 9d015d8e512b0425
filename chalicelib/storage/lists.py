"""The lists of an account: positions, the index by block of 100 positions, and pages by cursor.

Writes of an account's new records are spread over many index keys, one for each block.
"""

from collections.abc import Iterator
from typing import TypeVar

from pynamodb.attributes import UnicodeAttribute
from pynamodb.indexes import GlobalSecondaryIndex

from chalicelib.domain.list_cursor import CursorPosition
from chalicelib.domain.paging import PageRequest, block_of
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, optional
from chalicelib.storage.dynamodb.indexes import Index
from chalicelib.storage.dynamodb.table import Key, Row, Table, account_key
from chalicelib.storage.dynamodb.unit_of_work import Rows


class ListedRow(Table):
    """The base class of models of records that are listed by position.

    A subclass defines the index `by_block` with the keys ``list_block`` and ``position``.
    """

    position = optional(IntegerAttribute)
    list_block = optional(UnicodeAttribute)
    by_block: Index

    def list_at(self, account_id: str, position: int) -> None:
        """Set the position of the record in the account's list."""
        self.position = position
        self.list_block = block_key(account_id, block_of(position))


Listed = TypeVar("Listed", bound=ListedRow)


def move_to(rows: Rows, key: Key[Listed], account_id: str, position: int) -> None:
    """Set the position of a record in the account's list, in this unit of work."""
    rows.set(key, key.model.position, position)
    rows.set(key, key.model.list_block, block_key(account_id, block_of(position)))


def load_page(
    model: type[Listed], account_id: str, request: PageRequest, total: int
) -> Iterator[Listed]:
    """Load the rows of a page, in order: one request per block, and one more per further MB."""
    for block, first, last in request.ranges(total):
        yield from model.by_block.query(
            block_key(account_id, block), model.position.between(first, last)
        )


def block_key(account_id: str, block: int) -> str:
    """Return the index key of a block of an account's list."""
    return account_key(account_id, str(block))


def read_index_page(
    index: GlobalSecondaryIndex[Row],
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
    entries = ((row.attribute_values["created_at"], row.own_key().hash_key) for row in found)
    positions = [(at, key.removeprefix(prefix)) for at, key in entries if key.startswith(prefix)]
    return positions, found.last_evaluated_key is None
