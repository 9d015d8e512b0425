"""DynamoDB in memory: the tables of a stage, with AWS's limits, index lag and stale reads.

Requests and responses have botocore's format. Each request is atomic, and applies conditions as
DynamoDB does, so two transactions never run at the same time. The writes of a transaction can
become visible one by one: reads then return the earlier row, and other writes of the row conflict.
The state is readable without a request. Unit tests, the campaign and the benchmarks use these
tables.

The tables ignore the time to live and delete no row: AWS may keep an expired row for days, so the
service must not depend on its deletion. `Tables.delete_row` deletes a row for a test.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from heapq import heappop, heappush
from itertools import count
from math import inf
from threading import RLock
from typing import Any, Final
from uuid import uuid4

from botocore.exceptions import ClientError

from infrastructure.doctor.template import ResolvedTemplate
from tests.aws.capacity import Meter, row_bytes
from tests.aws.expressions import (
    InvalidRequest,
    Item,
    Scope,
    Tree,
    attributes_of,
    comparable,
    conditions_of,
    evaluate,
    holds,
    parse_condition,
    parse_update,
    require,
    updated,
    validate_expressions,
    validate_values,
)

Request = Mapping[str, Any]
Key = tuple[str, ...]

MAX_ITEM_BYTES: Final = 400 * 1024
MAX_PAGE_BYTES: Final = 1024 * 1024
_MAX_HASH_BYTES: Final = 2048
_MAX_SORT_BYTES: Final = 1024
_MAX_READ_BYTES: Final = 16 * 1024 * 1024
_MAX_TRANSACTION_BYTES: Final = 4 * 1024 * 1024
_MAX_IN_TRANSACTION: Final = 100
_MAX_READS: Final = 100
_MAX_WRITES: Final = 25
_TOKEN_LIFETIME_S: Final = 600
_MAX_TOKEN_LENGTH: Final = 36
_BATCH_WRITES: Final = {"PutRequest": "Put", "DeleteRequest": "Delete"}
_TRANSACTION_WRITES: Final = {
    "Put": ("Item",),
    "Delete": ("Key",),
    "Update": ("Key", "UpdateExpression"),
    "ConditionCheck": ("Key", "ConditionExpression"),
}
"""The actions of a transaction, each with its required parameters."""
_KEY_CONDITIONS: Final = ("=", "<", "<=", ">", ">=", "BETWEEN", "begins_with")
_RETURN_VALUES: Final = {
    "Put": ("NONE", "ALL_OLD"),
    "Delete": ("NONE", "ALL_OLD"),
    "Update": ("NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"),
}

template: Final = cache(ResolvedTemplate)


def error(
    operation: str, code: str, status: int = 400, message: str = "", **fields: Any
) -> ClientError:
    """Return the exception with which botocore reports an error response."""
    response = {
        "Error": {"Code": code, "Message": message or code},
        "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": {}},
        **fields,
    }
    return ClientError(response, operation)  # type: ignore[arg-type]


def cancelled(*reasons: str | Mapping[str, Any]) -> ClientError:
    """Return the exception of a cancelled transaction, with a reason or its code for each write."""
    all_reasons = [{"Code": reason} if isinstance(reason, str) else reason for reason in reasons]
    code = "TransactionCanceledException"
    return error("TransactWriteItems", code, CancellationReasons=all_reasons)


class _Index:
    """An index, or the table itself: the entries by partition key, as of some time ago."""

    def __init__(self, name: str, properties: Mapping[str, Any], table_keys: list[str]) -> None:
        self.name = name
        self.keys = [key["AttributeName"] for key in properties["KeySchema"]]
        self.all_keys = {*self.keys, *table_keys}
        self._order_by = [*self.keys[1:], *table_keys]
        self._partitions: defaultdict[str, dict[Key, Item]] = defaultdict(dict)
        self._hash_of: dict[Key, str] = {}
        self._pending: list[tuple[float, int, Key, Item | None]] = []
        self._numbers, self._last_number = count(), dict[Key, int]()
        projection = properties.get("Projection", {"ProjectionType": "ALL"})
        names = {*self.all_keys, *projection.get("NonKeyAttributes", ())}
        self._projected = None if projection["ProjectionType"] == "ALL" else names

    def put(self, now: float, delay_s: float, key: Key, item: Item | None) -> None:
        heappush(self._pending, (now + delay_s, next(self._numbers), key, item))
        if not delay_s:
            # A test can set the clock back before it queries the index.
            self.apply_until(now)

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
        return [comparable(item[name])[1] for name in self._order_by]

    def hash_of(self, item: Item) -> str:
        return str(next(iter(item[self.keys[0]].values())))

    def entry_of(self, item: Item | None) -> Item | None:
        """Return the projected attributes of a row, or None if the index does not contain it."""
        if item is None or not all(name in item for name in self.keys):
            return None
        if self._projected is None:
            return item
        return {name: item[name] for name in self._projected if name in item}

    def has_all(self, names: set[str]) -> bool:
        """Return whether the index contains these attributes of all rows."""
        return self._projected is None or names <= self._projected

    def count_write(self, meter: Meter, before: Item | None, after: Item | None) -> None:
        """Count the units of the entries that a write of a row removes, adds or replaces."""
        old, new = self.entry_of(before), self.entry_of(after)
        if old == new:
            return
        is_moved = not old or not new or any(old[name] != new[name] for name in self.keys)
        for entry in [old, new] if is_moved else [new]:
            if entry:
                meter.count_write((self.name, self.hash_of(entry)), [entry])

    def _apply(self, key: Key, item: Item | None) -> None:
        earlier = self._hash_of.pop(key, None)
        if earlier is not None:
            del self._partitions[earlier][key]
        if entry := self.entry_of(item):
            self._hash_of[key] = self.hash_of(entry)
            self._partitions[self._hash_of[key]][key] = entry


class _Table:
    def __init__(self, name: str, properties: Mapping[str, Any]) -> None:
        self.name = name
        self._properties = properties
        self.keys = [key["AttributeName"] for key in properties["KeySchema"]]
        self._types = {
            each["AttributeName"]: each["AttributeType"]
            for each in properties["AttributeDefinitions"]
        }
        indexes = [properties, *properties.get("GlobalSecondaryIndexes", ())]
        sort_keys = {key["AttributeName"] for each in indexes for key in each["KeySchema"][1:]}
        self._max_bytes = {
            name: _MAX_SORT_BYTES if name in sort_keys else _MAX_HASH_BYTES for name in self._types
        }
        self.clear()

    def clear(self) -> None:
        self.items: dict[Key, Item] = {}
        self.before: dict[Key, tuple[float, Item | None]] = {}
        self.hidden: dict[Key, tuple[float, Item | None]] = {}
        self.itself = _Index(self.name, self._properties, self.keys)
        self.indexes = {
            index["IndexName"]: _Index(f"{self.name}/{index['IndexName']}", index, self.keys)
            for index in self._properties.get("GlobalSecondaryIndexes", ())
        }

    def key_of(self, item: Request) -> Key:
        return tuple(str(value) for name in self.keys for value in item[name].values())

    def check_key(self, key: Request) -> None:
        require(key.keys() == set(self.keys), "The key does not match the schema.")
        self.check_key_values(key)

    def check_key_values(self, row: Request) -> None:
        """Check the types of all keys, also of indexes, and that no key is empty or too large."""
        require(all(name in row for name in self.keys), "Missing a key of the table.")
        validate_values(row)
        for name in self._types.keys() & row.keys():
            self.check_key_value(name, row[name])

    def check_key_value(self, name: str, value: Item) -> None:
        """Check the type and the size of a value that a key has or is compared with."""
        ((kind, content),) = value.items()
        require(kind == self._types[name], f"Type mismatch for the key {name}.")
        require(content, f"The key {name} is empty.")
        is_short = row_bytes({"": value}) <= self._max_bytes[name]
        require(is_short, f"The key {name} is too long.")

    def check_row(self, row: Item) -> None:
        """Check a row that a request writes."""
        self.check_key_values(row)
        require(row_bytes(row) <= MAX_ITEM_BYTES, "Item size has exceeded the maximum size.")


class Tables:
    """The tables of a stage. Methods that are named like an operation respond to its requests.

    Attributes:
        lag_s: the delay in seconds after which a write is visible in indexes.
        meters: count the units that requests consume.
        is_stale: decides whether an eventually consistent read of a table returns rows as before
            their last writes, in the second after the writes.
        delays_s: returns the delays after which the writes of a transaction become visible.
    """

    def __init__(
        self,
        stage: str,
        now: Callable[[], float],
        is_stale: Callable[[], bool] = lambda: False,
        delays_s: Callable[[int], Sequence[float]] = lambda number: [0.0] * number,
    ) -> None:
        self._prefix = f"feedback-{stage}-"
        self._tables = {
            name: _Table(name.removeprefix(self._prefix), properties)
            for name, properties in template(stage)
            .by_name("AWS::DynamoDB::Table", "TableName")
            .items()
        }
        self._now, self._is_stale, self._delays_s = now, is_stale, delays_s
        self._tokens: dict[str, tuple[Any, float, float]] = {}
        self._lock = RLock()
        self.meters: list[Meter] = []
        self.lag_s = 0.0

    @property
    def names(self) -> list[str]:
        """The names of all tables, without the prefix of the stage."""
        return [table.name for table in self._tables.values()]

    def __contains__(self, full_name: str) -> bool:
        return full_name in self._tables

    def respond(self, operation: str, request: Request) -> Any:
        """Return the response to a request, or raise botocore's exception."""
        if not (operation[:1].isupper() and hasattr(self, operation)):
            raise error(operation, "UnknownOperationException")
        with self._lock:
            try:
                validate_expressions(request)
                return getattr(self, operation)(request)
            except InvalidRequest as invalid:
                raise error(operation, "ValidationException", message=str(invalid)) from invalid

    @contextmanager
    def metered(self) -> Iterator[Meter]:
        """Count the units that the requests of the ``with`` block consume."""
        meter = Meter()
        self.meters.append(meter)
        try:
            yield meter
        finally:
            self.meters.remove(meter)

    # The state

    def rows(self, name: str) -> dict[Key, Item]:
        """Return the rows of a table by key."""
        return self._tables[self._prefix + name].items

    def all_rows(self) -> Iterator[tuple[str, Item]]:
        """Yield the name of the table and the row of all rows."""
        for table in self._tables.values():
            for item in table.items.values():
                yield table.name, item

    def find(self, full_name: str, key: Request) -> Item | None:
        """Return the row with a key, or with the key of a row."""
        table = self._tables[full_name]
        is_whole = all(name in key for name in table.keys)
        return table.items.get(table.key_of(key)) if is_whole else None

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
        return self._tokens[token][1]

    def was_processed(self, token: str) -> bool:
        """Return whether a request with this token wrote its rows."""
        return token in self._tokens

    def replace(self, name: str, key: Key, item: Item | None, delay_s: float = 0) -> None:
        """Store a row, or delete the row if ``item`` is None. Reads return it after the delay."""
        table, now = self._tables[self._prefix + name], self._now()
        earlier = table.items.pop(key, None)
        table.before[key] = (now + delay_s + 1, earlier)
        table.hidden.pop(key, None)
        if delay_s:
            table.hidden[key] = (now + delay_s, earlier)
        if item is not None:
            table.items[key] = item
        table.itself.put(now, delay_s, key, item)
        for index in table.indexes.values():
            index.put(now, delay_s + self.lag_s, key, item)

    def clear(self) -> None:
        """Delete all rows."""
        for table in self._tables.values():
            if table.items or table.before:
                table.clear()

    def restore(self, name: str, rows: Mapping[Key, Item]) -> None:
        """Replace all rows of a table."""
        for key in self.rows(name).keys() | rows.keys():
            self.replace(name, key, rows.get(key))

    def delete_row(self, name: str, key: Key) -> None:
        """Delete a row without a request, as an accident does."""
        self.replace(name, key, None)

    def change_row(self, name: str, key: Key, **values: Any) -> None:
        """Change attributes of a row without a request, as an accident does."""
        self.replace(name, key, {**self.rows(name)[key], **values})

    # Reads

    def GetItem(self, request: Request) -> Any:  # noqa: N802
        item = self._read(request["TableName"], request["Key"], request)
        return {"Item": _projection(item, request)} if item else {}

    def BatchGetItem(self, request: Request) -> Any:  # noqa: N802
        reads = [
            (name, key) for name, read in request["RequestItems"].items() for key in read["Keys"]
        ]
        require(0 < len(reads) <= _MAX_READS, f"Too many or no keys: {len(reads)}.")
        self._require_different(reads)
        responses: dict[str, list[Item]] = {}
        unread: dict[str, Any] = {}
        size = 0
        for name, read in request["RequestItems"].items():
            validate_expressions(read)
            responses[name] = []
            for key in read["Keys"]:
                item = self._read(name, key, read)
                size += row_bytes(item) if item else 0
                if size > _MAX_READ_BYTES:
                    unread.setdefault(name, {**read, "Keys": []})["Keys"].append(key)
                elif item:
                    responses[name].append(_projection(item, read))
        return {"Responses": responses, "UnprocessedKeys": unread}

    def _read(self, name: str, key: Request, read: Request) -> Item | None:
        table = self._table(name)
        table.check_key(key)
        item = self._stored(table, table.key_of(key), read)
        for meter in self.meters:
            (hash_value,) = key[table.keys[0]].values()
            meter.count_read((table.name, hash_value), [item] if item else [], read)
        return item

    def _stored(self, table: _Table, row_key: Key, read: Request) -> Item | None:
        until, hidden = table.hidden.get(row_key, (0.0, None))
        if self._now() < until:
            return hidden
        until, before = table.before.get(row_key, (0.0, None))
        if not read.get("ConsistentRead") and self._now() < until and self._is_stale():
            return before
        return table.items.get(row_key)

    def Query(self, request: Request) -> Any:  # noqa: N802
        table = self._table(request["TableName"])
        index = self._index(table, request)
        require("KeyConditionExpression" in request, "A query requires a key condition.")
        hash_value, conditions = _key_conditions(table, index, request)
        is_about_key = any(name in index.keys for name in _filtered(request))
        require(not is_about_key, "A filter must not contain a key.")
        return self._page(index, hash_value, conditions, table, request)

    def Scan(self, request: Request) -> Any:  # noqa: N802
        table = self._table(request["TableName"])
        return self._page(self._index(table, request), None, [], table, request)

    def _index(self, table: _Table, request: Request) -> _Index:
        name = request.get("IndexName")
        if not name:
            return table.itself
        require(name in table.indexes, f"Unknown index {name}.")
        require(not request.get("ConsistentRead"), "A consistent read of an index is impossible.")
        return table.indexes[name]

    def _entries(
        self, table: _Table, index: _Index, hash_value: str | None, read: Request
    ) -> list[Item]:
        """Return the entries that a read finds. A stale read finds rows as before their writes."""
        now = self._now()
        entries = index.partition(hash_value, now)
        if index is not table.itself or read.get("ConsistentRead") or not self._is_stale():
            return entries
        rows: dict[Key, Item | None] = {table.key_of(item): item for item in entries}
        for key, (until, before) in table.before.items():
            if now < until and hash_value in (None, key[0]):
                rows[key] = before
        return sorted(filter(None, rows.values()), key=index.order_of)

    def _page(
        self,
        index: _Index,
        hash_value: str | None,
        conditions: list[Tree],
        table: _Table,
        request: Request,
    ) -> Any:
        is_count = request.get("Select") == "COUNT"
        is_whole = index.has_all({"*"})
        require(request.get("Select") != "ALL_ATTRIBUTES" or is_whole, "The index is a projection.")
        names = [*_filtered(request), *_projected(request)]
        require(index.has_all(set(names)), "The index does not project all used attributes.")
        entries = self._entries(table, index, hash_value, request)
        is_backward = not request.get("ScanIndexForward", True)
        if is_backward:
            entries.reverse()
        if (start := request.get("ExclusiveStartKey")) is not None:
            require(start.keys() == index.all_keys, "The starting key is invalid.")
            table.check_key_values(start)
            is_inside = hash_value in (None, index.hash_of(start)) and all(
                evaluate(condition, Scope(start, request)) for condition in conditions
            )
            require(is_inside, "The starting key is outside of the query.")
            after = index.order_of(start)
            entries = [
                item
                for item in entries
                if (index.order_of(item) < after if is_backward else index.order_of(item) > after)
            ]
        limit, size = request.get("Limit", inf), 0
        require(limit > 0, "The limit must be at least 1.")
        page: list[Item] = []
        is_ended = True
        for item in entries:
            scope = Scope(item, request)
            if all(evaluate(condition, scope) for condition in conditions):
                page.append(item)
                size += row_bytes(item)
                if len(page) == limit or size >= MAX_PAGE_BYTES:
                    is_ended = False
                    break
        for meter in self.meters:
            meter.count_read((index.name, hash_value or ""), page, request)
        found = [i for i in page if holds(request.get("FilterExpression"), Scope(i, request))]
        response: dict[str, Any] = {"Count": len(found), "ScannedCount": len(page)}
        if not is_ended:
            response["LastEvaluatedKey"] = {name: page[-1][name] for name in index.all_keys}
        if not is_count:
            response["Items"] = [_projection(item, request) for item in found]
        return response

    # Writes

    def PutItem(self, request: Request) -> Any:  # noqa: N802
        return self._write_one("Put", request)

    def UpdateItem(self, request: Request) -> Any:  # noqa: N802
        return self._write_one("Update", request)

    def DeleteItem(self, request: Request) -> Any:  # noqa: N802
        return self._write_one("Delete", request)

    def _write_one(self, kind: str, write: Request) -> Any:
        self._check_request(kind, write)
        returned = write.get("ReturnValues", "NONE")
        require(returned in _RETURN_VALUES[kind], f"Invalid ReturnValues: {returned}.")
        if self._is_hidden(write):
            raise error(kind + "Item", "TransactionConflictException")
        stored, is_allowed = self._check_condition(write)
        if not is_allowed:
            item = _returned_item(write, stored)
            raise error(kind + "Item", "ConditionalCheckFailedException", **item)
        after = self._after(kind, write, stored)
        self._store(kind, write, stored, after)
        values = (stored if returned.endswith("OLD") else after) or {}
        if returned.startswith("UPDATED"):
            scope = Scope({}, write)
            names = {
                scope.attribute(name) for _, name, _ in parse_update(write["UpdateExpression"])
            }
            values = {name: value for name, value in values.items() if name in names}
        return {"Attributes": values} if values and returned != "NONE" else {}

    def BatchWriteItem(self, request: Request) -> Any:  # noqa: N802
        requests = [
            (name, *_only(each, _BATCH_WRITES))
            for name, all_requests in request["RequestItems"].items()
            for each in all_requests
        ]
        writes = [
            (_BATCH_WRITES[kind], {"TableName": name, **values}) for name, kind, values in requests
        ]
        require(0 < len(writes) <= _MAX_WRITES, f"Too many or no writes: {len(writes)}.")
        self._require_different([(w["TableName"], w.get("Key") or w["Item"]) for _, w in writes])
        for kind, write in writes:
            self._check_request(kind, write)
        unprocessed: dict[str, Any] = {}
        for (name, member, values), (kind, write) in zip(requests, writes, strict=True):
            if self._is_hidden(write):
                unprocessed.setdefault(name, []).append({member: values})
                continue
            stored, _ = self._check_condition(write)
            self._store(kind, write, stored, self._after(kind, write, stored))
        return {"UnprocessedItems": unprocessed}

    def TransactWriteItems(self, request: Request) -> Any:  # noqa: N802
        token, now = request.get("ClientRequestToken", str(uuid4())), self._now()
        require(0 < len(token) <= _MAX_TOKEN_LENGTH, "The token has 1 to 36 characters.")
        content, _, known_until = self._tokens.get(token, (None, 0, -inf))
        if now < known_until:
            if content != request["TransactItems"]:
                raise error("TransactWriteItems", "IdempotentParameterMismatchException")
            return {}
        writes = [_only(write, _TRANSACTION_WRITES) for write in request["TransactItems"]]
        for kind, write in writes:
            is_complete = all(name in write for name in _TRANSACTION_WRITES[kind])
            require(is_complete, f"A {kind} requires {_TRANSACTION_WRITES[kind]}.")
        require(0 < len(writes) <= _MAX_IN_TRANSACTION, f"Too many or no writes: {len(writes)}.")
        self._require_different([(w["TableName"], w.get("Key") or w["Item"]) for _, w in writes])
        for kind, write in writes:
            validate_expressions(write)
            self._check_request(kind, write)
        conflicts = [self._is_hidden(write) for _, write in writes]
        if any(conflicts):
            raise cancelled(*("TransactionConflict" if c else "None" for c in conflicts))
        rows = [self._check_condition(write) for _, write in writes]
        reasons: list[dict[str, Any]] = []
        after: list[Item | None] = []
        for (kind, write), (stored, is_allowed) in zip(writes, rows, strict=True):
            reasons.append({"Code": "None"})
            if not is_allowed:
                failed = {"Code": "ConditionalCheckFailed", **_returned_item(write, stored)}
                reasons[-1] = failed
                continue
            try:
                after.append(self._after(kind, write, stored))
            except InvalidRequest as invalid:
                reasons[-1] = {"Code": "ValidationError", "Message": str(invalid)}
        if any(reason["Code"] != "None" for reason in reasons):
            raise cancelled(*reasons)
        size = sum(map(row_bytes, filter(None, after)))
        require(size <= _MAX_TRANSACTION_BYTES, "The rows of the transaction exceed 4 MB.")
        delays_s = self._delays_s(len(writes))
        for (kind, write), (stored, _), item, delay_s in zip(
            writes, rows, after, delays_s, strict=True
        ):
            self._store(kind, write, stored, item, factor=2, delay_s=delay_s)
        while self._tokens and next(iter(self._tokens.values()))[2] <= now:
            del self._tokens[next(iter(self._tokens))]
        visible_at, known_until = now + max(delays_s), now + _TOKEN_LIFETIME_S
        self._tokens[token] = (request["TransactItems"], visible_at, known_until)
        return {}

    def _table(self, name: str) -> _Table:
        if name not in self._tables:
            raise error("", "ResourceNotFoundException")
        return self._tables[name]

    def _require_different(self, rows: Sequence[tuple[str, Request]]) -> None:
        for name, key in rows:
            table = self._table(name)
            require(all(each in key for each in table.keys), "Missing a key of the table.")
        keys = {(name, self._tables[name].key_of(key)) for name, key in rows}
        require(len(keys) == len(rows), "A row occurs twice.")

    def _check_request(self, kind: str, write: Request) -> None:
        """Check a write without regard to the stored row."""
        table = self._table(write["TableName"])
        if kind == "Put":
            table.check_row(write["Item"])
            return
        table.check_key(write["Key"])
        if kind == "Update" and "UpdateExpression" in write:
            scope = Scope({}, write)
            names = [
                scope.attribute(name) for _, name, _ in parse_update(write["UpdateExpression"])
            ]
            require(len(set(names)) == len(names), "Two actions change the same attribute.")
            require(not set(names) & set(table.keys), "An update must not change the key.")

    def _key(self, write: Request) -> Key:
        return self._tables[write["TableName"]].key_of(write.get("Key") or write["Item"])

    def _is_hidden(self, write: Request) -> bool:
        until, _ = self._tables[write["TableName"]].hidden.get(self._key(write), (0.0, None))
        return self._now() < until

    def _check_condition(self, write: Request) -> tuple[Item | None, bool]:
        """Return the stored row, and whether the condition of the write holds."""
        stored = self._tables[write["TableName"]].items.get(self._key(write))
        return stored, holds(write.get("ConditionExpression"), Scope(stored or {}, write))

    def _after(self, kind: str, write: Request, stored: Item | None) -> Item | None:
        """Return the row after the write, or None if it does not exist."""
        if kind == "ConditionCheck":
            return stored
        if kind != "Update":
            return write.get("Item")
        row = stored or dict(write["Key"])
        if "UpdateExpression" not in write:
            return row
        after = updated(row, write)
        self._tables[write["TableName"]].check_row(after)
        return after

    def _store(
        self,
        kind: str,
        write: Request,
        before: Item | None,
        after: Item | None,
        *,
        factor: int = 1,
        delay_s: float = 0,
    ) -> None:
        table, key = self._tables[write["TableName"]], self._key(write)
        for meter in self.meters:
            meter.count_write((table.name, key[0]), [before, after], factor)
            for index in table.indexes.values():
                index.count_write(meter, before, after)
        if kind != "ConditionCheck":
            self.replace(table.name, key, after, delay_s)


def _returned_item(write: Request, stored: Item | None) -> dict[str, Any]:
    is_wanted = write.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    return {"Item": stored} if is_wanted and stored else {}


def _projection(item: Item, read: Request) -> Item:
    if "ProjectionExpression" not in read:
        return item
    return {name: item[name] for name in _projected(read) if name in item}


def _projected(read: Request) -> list[str]:
    """Return the attributes of the projection of a read."""
    expression = read.get("ProjectionExpression")
    return attributes_of(expression, Scope({}, read)) if expression else []


def _filtered(read: Request) -> Iterator[str]:
    """Yield the attributes of the filter of a read."""
    parts: list[Tree] = []
    if "FilterExpression" in read:
        parts.append(parse_condition(read["FilterExpression"]))
    while parts:
        part = parts.pop()
        if isinstance(part, tuple):
            parts += part[1:]
        elif part[0] != ":":
            yield Scope({}, read).attribute(part)


def _key_conditions(table: _Table, index: _Index, request: Request) -> tuple[str, list[Tree]]:
    """Return the partition key of a query, and its conditions on the sort key."""
    scope = Scope({}, request)
    by_key: dict[str, Tree] = {}
    for condition in conditions_of(parse_condition(request["KeyConditionExpression"])):
        operator, name, *values = condition
        require(operator in _KEY_CONDITIONS and isinstance(name, str), "Invalid key condition.")
        require(all(value[0] == ":" for value in values), "Invalid key condition.")
        key = scope.attribute(name)
        require(key in index.keys, "A condition is not about a key.")
        require(key not in by_key, "Two conditions are about one key.")
        by_key[key] = condition
        for value in map(scope.find, values):
            table.check_key_value(key, value)
            is_number = operator == "begins_with" and "N" in value
            require(not is_number, "A number has no beginning.")
    equal = by_key.pop(index.keys[0], ("",))
    require(equal[0] == "=", "A query requires the partition key.")
    return str(next(iter(scope.find(equal[2]).values()))), list(by_key.values())


def _only(member: Request, allowed: Iterable[str]) -> tuple[str, Any]:
    """Return the name and the value of the only member."""
    require(len(member) == 1 and set(member) <= set(allowed), f"Not one of {[*allowed]}.")
    return next(iter(member.items()))
