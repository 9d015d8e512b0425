"""Count the rows that DynamoDB requests read, and the capacity units that they consume."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import boto3

WRITE_UNITS_PER_KEY: Final = 1_000
"""AWS's limit for the write units per second of one partition key, in tables and in indexes."""
READ_UNITS_PER_KEY: Final = 3_000
"""AWS's limit for the read units per second of one partition key."""

_READ_UNIT_BYTES: Final = 4096
_WRITE_UNIT_BYTES: Final = 1024
_NESTING_BYTES: Final = 3
_READS: Final = frozenset({"BatchGetItem", "GetItem", "Query", "Scan"})

Item = dict[str, Any]
Key = tuple[str, str]
"""A table (``customers``) or an index (``customers/due``), and the value of its partition key."""


@dataclass
class Consumed:
    """The number of rows and capacity units that requests of a client have consumed so far.

    Attributes:
        rows: the rows that DynamoDB read, including rows that a filter removed from the response.
        write_units: the write units that DynamoDB or the emulator reports.
        read_units_by_size: the read units computed from the sizes of the rows by AWS's rule.
    """

    rows: int = 0
    write_units: float = 0.0
    read_units_by_size: float = 0.0


@contextmanager
def consumed_capacity(client: Any) -> Iterator[Consumed]:
    """Count the rows and capacity units of this boto3 client while the ``with`` block runs."""
    consumed = Consumed()

    def request_capacity(params: Item, context: Item, **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"
        context["request"] = params

    def add(parsed: Item, model: Any, context: Item, **_: Any) -> None:
        request = context["request"]
        if model.name not in _READS:
            reported = parsed.get("ConsumedCapacity", [])
            tables = [reported] if isinstance(reported, dict) else reported
            consumed.write_units += sum(table["CapacityUnits"] for table in tables)
        elif model.name == "BatchGetItem":
            for table, read in request["RequestItems"].items():
                rows = parsed["Responses"].get(table, [])
                missing = len(read["Keys"]) - len(rows)
                consumed.rows += len(rows)
                blocks = sum(_blocks([row]) for row in rows) + missing
                consumed.read_units_by_size += _read_units(read) * blocks
        else:
            rows = parsed.get("Items", [parsed["Item"]] if "Item" in parsed else [])
            consumed.rows += parsed.get("ScannedCount", len(rows))
            consumed.read_units_by_size += _read_units(request) * _blocks(rows)

    with _observed(client, request_capacity, add):
        yield consumed


@dataclass
class PartitionLoad:
    """The units that requests have consumed so far, by partition key."""

    writes: Counter[Key] = field(default_factory=Counter)
    reads: defaultdict[Key, float] = field(default_factory=lambda: defaultdict(float))


@contextmanager
def partition_load(client: Any, prefix: str) -> Iterator[PartitionLoad]:
    """Count the capacity units that the client's requests consume inside the ``with`` block.

    The units are computed by AWS's rules from the items before and after each write. A transaction
    doubles the units of the tables. It does not double the units of the indexes.

    Args:
        prefix: the prefix of all table names.
    """
    load = PartitionLoad()
    observer: Any = boto3.client("dynamodb")
    schema = cache(lambda table: observer.describe_table(TableName=table)["Table"])

    def stored(table: str, key: Item) -> Item | None:
        item: Item | None = observer.get_item(TableName=table, Key=key, ConsistentRead=True).get(
            "Item"
        )
        return item

    def before(params: Item, model: Any, context: Item, **_: Any) -> None:
        context["writes"] = writes = []
        for table, write, units in _writes(model.name, params):
            source = write.get("Key") or write["Item"]
            key = {name: source[name] for name in _names(schema(table))}
            writes.append((table, key, stored(table, key), units))
        for table, key, read_units in _reads(model.name, params):
            load.reads[table.removeprefix(prefix), _value(key, schema(table))] += read_units

    def after(http_response: Any, context: Item, **_: Any) -> None:
        if http_response.status_code != 200:
            return
        for table, key, old, units in context["writes"]:
            name = table.removeprefix(prefix)
            _count_write(load, name, schema(table), (old, stored(table, key)), units)

    with _observed(client, before, after):
        yield load


def hottest(units: Mapping[Key, float]) -> dict[str, float]:
    """Return the units of the hottest key of each table and index."""
    found: dict[str, float] = {}
    for (name, _), count in units.items():
        found[name] = max(found.get(name, 0), count)
    return found


def row_bytes(row: Item) -> int:
    """Return the billed size of a row: the bytes of its attribute names and values."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in row.items())


@contextmanager
def _observed(
    client: Any, before: Callable[..., None], after: Callable[..., None]
) -> Iterator[None]:
    """Call the functions before and after each DynamoDB request of a client."""
    handlers = {"provide-client-params.dynamodb.*": before, "after-call.dynamodb.*": after}
    for event, handler in handlers.items():
        client.meta.events.register(event, handler)
    try:
        yield
    finally:
        for event, handler in handlers.items():
            client.meta.events.unregister(event, handler)


def _count_write(
    load: PartitionLoad, name: str, table: Item, images: tuple[Item | None, Item | None], units: int
) -> None:
    existing = [image for image in images if image]
    if existing:
        size = max(map(row_bytes, existing))
        load.writes[name, _value(existing[-1], table)] += units * _write_units(size)
    for index in table.get("GlobalSecondaryIndexes", ()):
        old, new = (_entry(index, table, image) for image in images)
        if old == new:
            continue
        moved = not old or not new or any(old[key] != new[key] for key in _names(index))
        for entry in (old, new) if moved else (new,):
            if entry:
                partition = f"{name}/{index['IndexName']}", _value(entry, index)
                load.writes[partition] += _write_units(row_bytes(entry))


def _entry(index: Item, table: Item, item: Item | None) -> Item | None:
    if not item or not all(key in item for key in _names(index)):
        return None
    projection = index["Projection"]
    if projection["ProjectionType"] == "ALL":
        return item
    names = {*_names(index), *_names(table), *projection.get("NonKeyAttributes", ())}
    return {name: value for name, value in item.items() if name in names}


def _writes(operation: str, params: Item) -> Iterator[tuple[str, Item, int]]:
    """Yield the table, the write, and the units per started KB, of each write in a request."""
    if operation in ("PutItem", "UpdateItem", "DeleteItem"):
        yield params["TableName"], params, 1
    elif operation == "TransactWriteItems":
        for (write,) in (item.values() for item in params["TransactItems"]):
            yield write["TableName"], write, 2
    elif operation == "BatchWriteItem":
        for table, requests in params["RequestItems"].items():
            for (write,) in (request.values() for request in requests):
                yield table, write, 1


def _reads(operation: str, params: Item) -> Iterator[tuple[str, Item, float]]:
    """Yield the table, the key, and the units per 4 KB, of each read in a request."""
    if operation == "GetItem":
        yield params["TableName"], params["Key"], _read_units(params)
    elif operation == "BatchGetItem":
        for table, request in params["RequestItems"].items():
            for key in request["Keys"]:
                yield table, key, _read_units(request)


def _names(schema: Item) -> list[str]:
    """Return the names of the keys of a table or an index."""
    return [key["AttributeName"] for key in schema["KeySchema"]]


def _value(item: Item, schema: Item) -> str:
    """Return the value of the partition key of a table or an index."""
    (value,) = item[_names(schema)[0]].values()
    return str(value)


def _read_units(request: Item) -> float:
    return 1.0 if request.get("ConsistentRead") else 0.5


def _blocks(rows: list[Item]) -> int:
    return max(1, math.ceil(sum(map(row_bytes, rows)) / _READ_UNIT_BYTES))


def _write_units(size_bytes: int) -> int:
    return math.ceil(size_bytes / _WRITE_UNIT_BYTES)


def _value_bytes(value: Item) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return (len(content.strip("-.")) + 1) // 2 + 1
        case "B":
            return len(content)
        case "SS":
            return sum(len(member.encode()) for member in content)
        case "M":
            return _NESTING_BYTES + row_bytes(content) + len(content)
        case "L":
            return _NESTING_BYTES + sum(_value_bytes(member) + 1 for member in content)
        case _:
            return 1
