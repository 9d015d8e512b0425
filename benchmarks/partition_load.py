"""Count the capacity units that requests consume on each partition key of tables and indexes."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import boto3

from benchmarks.consumed_capacity import row_bytes

WRITE_UNITS_PER_KEY: Final = 1_000
"""AWS's limit for the write units per second of one partition key, in tables and in indexes."""
READ_UNITS_PER_KEY: Final = 3_000
"""AWS's limit for the read units per second of one partition key."""

_WRITE_UNIT_BYTES: Final = 1_024

Item = dict[str, Any]
Key = tuple[str, str]
"""A table (``customers``) or an index (``customers/due``), and the value of its partition key."""


@dataclass
class PartitionLoad:
    """The units that requests have consumed so far, by partition key."""

    writes: defaultdict[Key, float] = field(default_factory=lambda: defaultdict(float))
    reads: defaultdict[Key, float] = field(default_factory=lambda: defaultdict(float))

    def hottest_writes(self) -> dict[str, float]:
        """Return the write units of the hottest key of each table and index."""
        return _hottest(self.writes)

    def hottest_reads(self) -> dict[str, float]:
        """Return the read units of the hottest key of each table and index."""
        return _hottest(self.reads)


def ceiling(units: float, limit: int = WRITE_UNITS_PER_KEY) -> float:
    """Return the operations per second that one key allows if each operation uses these units."""
    return limit / units


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

    def before(params: Item, model: Any, context: Item, **_: Any) -> None:
        context["writes"] = [
            (schema(table), key, _get(observer, table, key), units)
            for table, key, units in _writes(model.name, params, schema)
        ]
        for table, value, units in _reads(model.name, params, schema):
            load.reads[table.removeprefix(prefix), value] += units

    def after(http_response: Any, context: Item, **_: Any) -> None:
        if http_response.status_code != 200:
            return
        for table, key, old, units in context["writes"]:
            name = table["TableName"].removeprefix(prefix)
            _count_write(load, name, table, (old, _get(observer, table["TableName"], key)), units)

    events = client.meta.events
    events.register("provide-client-params.dynamodb.*", before)
    events.register("after-call.dynamodb.*", after)
    try:
        yield load
    finally:
        events.unregister("provide-client-params.dynamodb.*", before)
        events.unregister("after-call.dynamodb.*", after)


def _count_write(
    load: PartitionLoad, name: str, table: Item, images: tuple[Item | None, Item | None], units: int
) -> None:
    table_keys = [key["AttributeName"] for key in table["KeySchema"]]
    for stored in images[::-1]:
        if stored:
            size = max(row_bytes(image) for image in images if image)
            load.writes[name, _value(stored[table_keys[0]])] += units * _write_units(size)
            break
    for index in table.get("GlobalSecondaryIndexes", ()):
        keys = [key["AttributeName"] for key in index["KeySchema"]]
        old, new = (_entry(index, keys, table_keys, image) for image in images)
        if old == new:
            continue
        moved = not old or not new or any(old[key] != new[key] for key in keys)
        for entry in (old, new) if moved else (new,):
            if entry:
                partition = f"{name}/{index['IndexName']}", _value(entry[keys[0]])
                load.writes[partition] += _write_units(row_bytes(entry))


def _entry(index: Item, keys: list[str], table_keys: list[str], item: Item | None) -> Item | None:
    if not item or not all(key in item for key in keys):
        return None
    projection = index["Projection"]
    if projection["ProjectionType"] == "ALL":
        return item
    names = {*keys, *table_keys, *projection.get("NonKeyAttributes", ())}
    return {name: value for name, value in item.items() if name in names}


def _writes(operation: str, params: Item, schema: Any) -> Iterator[tuple[str, Item, int]]:
    """Yield the table, the key, and the units per started KB, of each write in a request."""
    if operation in ("PutItem", "UpdateItem", "DeleteItem"):
        yield params["TableName"], _key_of(params, schema), 1
    elif operation == "TransactWriteItems":
        for (write,) in (item.values() for item in params["TransactItems"]):
            yield write["TableName"], _key_of(write, schema), 2
    elif operation == "BatchWriteItem":
        for table, requests in params["RequestItems"].items():
            for (write,) in (request.values() for request in requests):
                yield table, _key_of({"TableName": table, **write}, schema), 1


def _reads(operation: str, params: Item, schema: Any) -> Iterator[tuple[str, str, float]]:
    """Yield the table, the partition key, and the units per 4 KB, of each read in a request."""
    if operation == "GetItem":
        yield params["TableName"], _hash(params["Key"], params["TableName"], schema), _units(params)
    elif operation == "BatchGetItem":
        for table, request in params["RequestItems"].items():
            for key in request["Keys"]:
                yield table, _hash(key, table, schema), _units(request)


def _units(request: Item) -> float:
    return 1.0 if request.get("ConsistentRead") else 0.5


def _key_of(write: Mapping[str, Any], schema: Any) -> Item:
    source = write.get("Key") or write["Item"]
    keys = schema(write["TableName"])["KeySchema"]
    return {key["AttributeName"]: source[key["AttributeName"]] for key in keys}


def _hash(key: Item, table: str, schema: Any) -> str:
    return _value(key[schema(table)["KeySchema"][0]["AttributeName"]])


def _get(client: Any, table: str, key: Item) -> Item | None:
    item: Item | None = client.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item")
    return item


def _value(attribute: Item) -> str:
    (value,) = attribute.values()
    return str(value)


def _write_units(size_bytes: int) -> int:
    return math.ceil(size_bytes / _WRITE_UNIT_BYTES)


def _hottest(units: Mapping[Key, float]) -> dict[str, float]:
    hottest: dict[str, float] = {}
    for (name, _), count in units.items():
        hottest[name] = max(hottest.get(name, 0), count)
    return hottest
