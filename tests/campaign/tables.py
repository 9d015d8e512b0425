"""DynamoDB in memory: the tables of the stage, with index lag and stale reads.

Requests and responses have botocore's format. Each request is atomic, and applies conditions as
DynamoDB does, so two transactions never run at the same time. The writes of a transaction can
become visible one by one: reads then return the earlier row, and other writes of the row conflict.
Pages have no maximum size. The state is readable without a request, for the invariants of the
campaign. The benchmarks use the same tables, without lag.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from heapq import heappop, heappush
from itertools import count, islice
from math import inf
from typing import Any, Final

from botocore.exceptions import ClientError

from benchmarks.expressions import Item, Scope, holds, updated
from infrastructure.doctor.template import ResolvedTemplate

Request = Mapping[str, Any]
Key = tuple[str, ...]

_EQUALS: Final = re.compile(r"(#\w+) = (:\w+)")
_MAX_WRITES: Final = 100


template: Final = cache(ResolvedTemplate)


def error(operation: str, code: str, status: int = 400, **fields: Any) -> ClientError:
    """Return the exception with which botocore reports an error response."""
    response = {
        "Error": {"Code": code, "Message": code},
        "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": {}},
        **fields,
    }
    return ClientError(response, operation)  # type: ignore[arg-type]


class _Index:
    """An index, or the table itself: the entries by partition key, as of some time ago."""

    def __init__(self, properties: Mapping[str, Any], table_keys: list[str]) -> None:
        self.keys = [key["AttributeName"] for key in properties["KeySchema"]]
        self._order_by = [*self.keys[1:], *table_keys]
        self._partitions: defaultdict[str, dict[Key, Item]] = defaultdict(dict)
        self._hash_of: dict[Key, str] = {}
        self._pending: list[tuple[float, int, Key, Item | None]] = []
        self._numbers, self._last_number = count(), dict[Key, int]()
        projection = properties.get("Projection", {"ProjectionType": "ALL"})
        names = {*self.keys, *table_keys, *projection.get("NonKeyAttributes", ())}
        self._projected = None if projection["ProjectionType"] == "ALL" else names

    def put(self, visible_at: float, key: Key, item: Item | None) -> None:
        heappush(self._pending, (visible_at, next(self._numbers), key, item))

    def apply_until(self, time: float) -> None:
        """Make changes visible. An earlier change of a row never replaces a later one."""
        while self._pending and self._pending[0][0] <= time:
            _, number, key, item = heappop(self._pending)
            if number > self._last_number.get(key, -1):
                self._last_number[key] = number
                self._apply(key, item)

    def partition(self, hash_value: str | None, now: float) -> list[Item]:
        """Return the entries of a partition, or of all partitions, in order."""
        self.apply_until(now)
        hashes = [hash_value] if hash_value is not None else list(self._partitions)
        entries = [item for each in hashes for item in self._partitions.get(each, {}).values()]
        return sorted(entries, key=self.order_of)

    def order_of(self, item: Item) -> list[Any]:
        return [_comparable(item[name]) for name in self._order_by]

    def _apply(self, key: Key, item: Item | None) -> None:
        earlier = self._hash_of.pop(key, None)
        if earlier is not None:
            del self._partitions[earlier][key]
        if item is not None and all(name in item for name in self.keys):
            if self._projected is not None:
                item = {name: item[name] for name in self._projected if name in item}
            self._hash_of[key] = item[self.keys[0]]["S"]
            self._partitions[self._hash_of[key]][key] = item


class _Table:
    def __init__(self, properties: Mapping[str, Any]) -> None:
        self.keys = [key["AttributeName"] for key in properties["KeySchema"]]
        self.items: dict[Key, Item] = {}
        self.before: dict[Key, tuple[float, Item | None]] = {}
        self.hidden: dict[Key, tuple[float, Item | None]] = {}
        self.itself = _Index(properties, self.keys)
        self.indexes = {
            index["IndexName"]: _Index(index, self.keys)
            for index in properties.get("GlobalSecondaryIndexes", ())
        }

    def key_of(self, item: Request) -> Key:
        return tuple(str(value) for name in self.keys for value in item[name].values())


class Tables:
    """The tables of a stage. Methods that are named like an operation respond to its requests.

    Attributes:
        lag_s: the delay in seconds after which a write is visible in indexes.
        is_stale: decides whether an eventually consistent read returns the row before its last
            write, in the second after the write.
        delays_s: returns the delays after which the writes of a transaction become visible.
    """

    def __init__(
        self,
        stage: str,
        now: Callable[[], float],
        is_stale: Callable[[], bool],
        delays_s: Callable[[int], Sequence[float]] = lambda number: [0.0] * number,
    ) -> None:
        tables = template(stage).by_name("AWS::DynamoDB::Table", "TableName")
        self._tables = {name: _Table(properties) for name, properties in tables.items()}
        self._prefix = f"feedback-{stage}-"
        self._now, self._is_stale, self._delays_s = now, is_stale, delays_s
        self._visible_at: dict[str, float] = {}
        self.lag_s = 0.0

    @property
    def names(self) -> list[str]:
        """The names of all tables, without the prefix of the stage."""
        return [name.removeprefix(self._prefix) for name in self._tables]

    def rows(self, name: str) -> dict[Key, Item]:
        """Return the rows of a table by key."""
        return self._tables[self._prefix + name].items

    def all_rows(self) -> Iterator[tuple[str, Item]]:
        """Yield the name of the table and the row of all rows."""
        for name, table in self._tables.items():
            for item in table.items.values():
                yield name.removeprefix(self._prefix), item

    def apply_lag(self) -> None:
        """Make all changes visible in all indexes, and remove the lag."""
        self.lag_s = 0.0
        for table in self._tables.values():
            for index in table.indexes.values():
                index.apply_until(inf)

    def visible_rows(self, name: str) -> dict[Key, Item]:
        """Return the rows of a table by key, as consistent reads return them."""
        now, table = self._now(), self._tables[self._prefix + name]
        hidden = {key: item for key, (until, item) in table.hidden.items() if now < until}
        return {key: item for key, item in (table.items | hidden).items() if item is not None}

    def visible_at(self, token: str) -> float:
        """Return the time at which all writes of a transaction are visible."""
        return self._visible_at[token]

    def replace(self, name: str, key: Key, item: Item | None, delay_s: float = 0) -> None:
        """Store a row, or delete the row if ``item`` is None. Reads return it after the delay."""
        table, visible_at = self._tables[name], self._now() + delay_s
        earlier = table.items.pop(key, None)
        table.before[key] = (visible_at + 1, earlier)
        table.hidden.pop(key, None)
        if delay_s:
            table.hidden[key] = (visible_at, earlier)
        if item is not None:
            table.items[key] = item
        table.itself.put(visible_at, key, item)
        for index in table.indexes.values():
            index.put(visible_at + self.lag_s, key, item)

    def restore(self, name: str, rows: Mapping[Key, Item]) -> None:
        """Replace all rows of a table."""
        for key in self.rows(name).keys() | rows.keys():
            self.replace(self._prefix + name, key, rows.get(key))

    def delete_row(self, name: str, key: Key) -> None:
        """Delete a row without a request, as an accident does."""
        self.replace(self._prefix + name, key, None)

    def change_row(self, name: str, key: Key, **values: Any) -> None:
        """Change attributes of a row without a request, as an accident does."""
        self.replace(self._prefix + name, key, {**self.rows(name)[key], **values})

    def GetItem(self, request: Request) -> Any:  # noqa: N802
        item = self._read(request["TableName"], request["Key"], request)
        return {"Item": item} if item else {}

    def BatchGetItem(self, request: Request) -> Any:  # noqa: N802
        responses = {
            name: [item for key in read["Keys"] if (item := self._read(name, key, read))]
            for name, read in request["RequestItems"].items()
        }
        assert sum(len(read["Keys"]) for read in request["RequestItems"].values()) <= _MAX_WRITES
        return {"Responses": responses, "UnprocessedKeys": {}}

    def _read(self, name: str, key: Request, read: Request) -> Item | None:
        table = self._tables[name]
        row_key = table.key_of(key)
        until, hidden = table.hidden.get(row_key, (0.0, None))
        if self._now() < until:
            return hidden
        until, before = table.before.get(row_key, (0.0, None))
        if not read.get("ConsistentRead") and self._now() < until and self._is_stale():
            return before
        return table.items.get(row_key)

    def PutItem(self, request: Request) -> Any:  # noqa: N802
        return self._write_one("Put", request)

    def UpdateItem(self, request: Request) -> Any:  # noqa: N802
        return self._write_one("Update", request)

    def DeleteItem(self, request: Request) -> Any:  # noqa: N802
        return self._write_one("Delete", request)

    def _write_one(self, kind: str, write: Request) -> Any:
        if self._is_hidden(write):
            raise error(kind + "Item", "TransactionConflictException")
        stored, is_allowed = self._check(write)
        if not is_allowed:
            item = self._returned_item(write, stored)
            raise error(kind + "Item", "ConditionalCheckFailedException", **item)
        after = self._write(kind, write)
        returned = write.get("ReturnValues", "NONE")
        values = stored if returned == "ALL_OLD" else after if returned != "NONE" else None
        return {"Attributes": values} if values else {}

    def BatchWriteItem(self, request: Request) -> Any:  # noqa: N802
        for name, writes in request["RequestItems"].items():
            for write in writes:
                ((kind, values),) = write.items()
                self._write(kind.removesuffix("Request"), {"TableName": name, **values})
        return {"UnprocessedItems": {}}

    def TransactWriteItems(self, request: Request) -> Any:  # noqa: N802
        token, now = request["ClientRequestToken"], self._now()
        if token in self._visible_at:
            return {}
        writes = [next(iter(write.items())) for write in request["TransactItems"]]
        rows = [(write["TableName"], self._key(write)) for _, write in writes]
        if len(set(rows)) < len(rows) or len(rows) > _MAX_WRITES:
            raise error("TransactWriteItems", "ValidationException")
        conflicts = [self._is_hidden(write) for _, write in writes]
        if any(conflicts):
            raise cancelled([{"Code": "TransactionConflict" if c else "None"} for c in conflicts])
        checks = [self._check(write) for _, write in writes]
        if not all(is_allowed for _, is_allowed in checks):
            reasons = [
                {"Code": "None"}
                if is_allowed
                else {"Code": "ConditionalCheckFailed", **self._returned_item(write, stored)}
                for (_, write), (stored, is_allowed) in zip(writes, checks, strict=True)
            ]
            raise cancelled(reasons)
        delays_s = self._delays_s(len(writes))
        for (kind, write), delay_s in zip(writes, delays_s, strict=True):
            self._write(kind, write, delay_s)
        self._visible_at[token] = now + max(delays_s)
        return {}

    def Query(self, request: Request) -> Any:  # noqa: N802
        table = self._tables[request["TableName"]]
        name = request.get("IndexName")
        index = table.indexes[name] if name else table.itself
        hash_value = next(
            request["ExpressionAttributeValues"][value]["S"]
            for attribute, value in _EQUALS.findall(request["KeyConditionExpression"])
            if request["ExpressionAttributeNames"][attribute] == index.keys[0]
        )
        return self._page(index, hash_value, table, request)

    def Scan(self, request: Request) -> Any:  # noqa: N802
        table = self._tables[request["TableName"]]
        return self._page(table.itself, None, table, request)

    def _page(self, index: _Index, hash_value: str | None, table: _Table, request: Request) -> Any:
        entries = index.partition(hash_value, self._now())
        is_backward = not request.get("ScanIndexForward", True)
        if is_backward:
            entries.reverse()
        start = request.get("ExclusiveStartKey")
        if start:
            after = index.order_of(start)
            entries = [
                item
                for item in entries
                if (index.order_of(item) < after if is_backward else index.order_of(item) > after)
            ]
        limit = request.get("Limit") or len(entries)
        condition = request.get("KeyConditionExpression")
        matching = (item for item in entries if holds(condition, Scope(item, request)))
        listed = list(islice(matching, limit + 1))
        page = listed[:limit]
        found = [i for i in page if holds(request.get("FilterExpression"), Scope(i, request))]
        response: dict[str, Any] = {"Count": len(found), "ScannedCount": len(page)}
        if len(listed) > limit:
            names = {*index.keys, *table.keys}
            response["LastEvaluatedKey"] = {name: page[-1][name] for name in names}
        return response if request.get("Select") == "COUNT" else {**response, "Items": found}

    def _key(self, write: Request) -> Key:
        return self._tables[write["TableName"]].key_of(write.get("Key") or write["Item"])

    def _is_hidden(self, write: Request) -> bool:
        until, _ = self._tables[write["TableName"]].hidden.get(self._key(write), (0.0, None))
        return self._now() < until

    def _check(self, write: Request) -> tuple[Item | None, bool]:
        """Return the stored row, and whether the condition of the write holds."""
        stored = self._tables[write["TableName"]].items.get(self._key(write))
        return stored, holds(write.get("ConditionExpression"), Scope(stored or {}, write))

    def _returned_item(self, write: Request, stored: Item | None) -> dict[str, Any]:
        is_wanted = write.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
        return {"Item": stored} if is_wanted and stored else {}

    def _write(self, kind: str, write: Request, delay_s: float = 0) -> Item | None:
        if kind == "ConditionCheck":
            return None
        name, key = write["TableName"], self._key(write)
        item: Item | None = write.get("Item")
        if kind == "Update":
            item = updated(self._tables[name].items.get(key) or dict(write["Key"]), write)
        self.replace(name, key, item, delay_s)
        return item


def cancelled(reasons: list[dict[str, Any]]) -> ClientError:
    """Return the exception of a cancelled transaction."""
    return error("TransactWriteItems", "TransactionCanceledException", CancellationReasons=reasons)


def _comparable(value: Mapping[str, str]) -> Any:
    ((kind, content),) = value.items()
    return int(content) if kind == "N" else content
