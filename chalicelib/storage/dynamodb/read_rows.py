"""Remember the rows that an attempt has read, to find out why a condition of its writes failed.

If another process changed the row, the condition can be true in the next attempt. If the condition
is false for the row as the attempt read it, each further attempt fails too.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

Key = frozenset[tuple[str, str]]
Item = Mapping[str, Any]

_READS: Final = frozenset({"BatchGetItem", "GetItem"})


class ReadRows:
    """The rows that an operation has read, in its current attempt and in failed ones.

    Only reads by key count. Queries can return parts of rows, so they are ignored.
    """

    def __init__(self) -> None:
        self._responses: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
        self._returned: dict[tuple[str, Key], Item | None] = {}

    def start_attempt(self) -> None:
        """Forget the rows that an earlier attempt read."""
        self._responses.clear()

    def add(self, request: Mapping[str, Any], response: Mapping[str, Any]) -> None:
        """Remember the rows of a response."""
        self._responses.append((request, response))

    def compare(self, failed: Sequence[tuple[str, Item, Item | None]]) -> tuple[bool, bool]:
        """Compare the rows of failed conditions with the rows that the attempts know.

        Return whether all rows are unchanged since this attempt read them, and whether all rows are
        unchanged since this attempt read them or an earlier attempt failed on them.

        Args:
            failed: for each row, the name of the table, the key and the row that DynamoDB returned,
                or None if the row does not exist.
        """
        read = self._read()
        rows = {(table, _key(key)): row for table, key, row in failed}
        is_read = all(row in read and read[row] == now for row, now in rows.items())
        known = self._returned | read
        is_known = all(row in known and known[row] == now for row, now in rows.items())
        self._returned = rows
        return is_read, is_known

    def _read(self) -> dict[tuple[str, Key], Item | None]:
        rows: dict[tuple[str, Key], Item | None] = {}
        for request, response in self._responses:
            if "Key" in request:
                rows[request["TableName"], _key(request["Key"])] = response.get("Item")
                continue
            unread = response.get("UnprocessedKeys") or {}
            for table, requested in request["RequestItems"].items():
                keys = requested["Keys"]
                items = {_key(item, keys[0]): item for item in response["Responses"].get(table, ())}
                missing = [_key(key) for key in unread.get(table, {}).get("Keys", ())]
                for key in map(_key, keys):
                    if key not in missing:
                        rows[table, key] = items.get(key)
        return rows


_current: ContextVar[ReadRows | None] = ContextVar("read_rows", default=None)


def current() -> ReadRows | None:
    """Return the rows of the operation that runs, or None outside `remember_rows`."""
    return _current.get()


@contextmanager
def remember_rows() -> Iterator[ReadRows]:
    """Remember the rows that are read inside the ``with`` block."""
    rows = ReadRows()
    token = _current.set(rows)
    try:
        yield rows
    finally:
        _current.reset(token)


def record_response(
    operation: str, request: Mapping[str, Any], response: Mapping[str, Any]
) -> None:
    """Remember the rows of a response if it is a consistent read of whole rows.

    A successful transaction makes all earlier reads outdated.
    """
    rows = _current.get()
    if rows is None:
        return
    if operation == "TransactWriteItems":
        rows.start_attempt()
    elif operation in _READS and _is_whole_and_consistent(request):
        rows.add(request, response)


def _is_whole_and_consistent(request: Mapping[str, Any]) -> bool:
    reads = request.get("RequestItems", {"": request}).values()
    return all(r.get("ConsistentRead") and "ProjectionExpression" not in r for r in reads)


def _key(row: Item, names: Item | None = None) -> Key:
    """Return the key of a row. All table keys are strings.

    Args:
        names: a mapping with the names of the key attributes; by default, the row is a key.
    """
    return frozenset((name, row[name]["S"]) for name in names or row)
