"""Read an index page by page, in the order of creation."""

from typing import Any

from chalicelib.domain.list_cursor import Position
from chalicelib.domain.schema import format_timestamp


def read_index_page(
    index: Any,
    key: tuple[str, str],
    id_name: str,
    after: Position | None,
    limit: int,
    prefix: str = "",
) -> tuple[list[Position], bool]:
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
