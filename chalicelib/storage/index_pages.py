"""Read an index page by page, in the order of creation."""

from typing import Any

Position = tuple[str, str]
"""The creation time and the id of a record."""


def read_index_page(
    index: Any, key: tuple[str, str], id_name: str, record_key: str | None, after: str, limit: int
) -> tuple[list[Any], bool]:
    """Return up to ``limit`` entries of an index, and whether it ends with them. One request.

    Args:
        key: the name and the value of the partition key of the index.
        id_name: the name of the partition key of the table.
        record_key: the value of this key in the last entry of the preceding page; None to start.
        after: the creation time of this entry.
    """
    name, value = key
    start = None
    if record_key is not None:
        start = {name: {"S": value}, "created_at": {"S": after}, id_name: {"S": record_key}}
    found = index.query(value, limit=limit, last_evaluated_key=start)
    return list(found), found.last_evaluated_key is None
