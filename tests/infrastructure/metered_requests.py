"""Count AWS requests and the capacity units that DynamoDB would bill for them.

Moto reports constants as consumed capacity. Therefore the units are computed from the sizes of the
rows by AWS's rules: a write unit for each KB, twice in a transaction, and a write unit for each KB
of a changed index entry; a read unit for 4 KB, half if the read is eventually consistent.
"""

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from botocore.client import BaseClient
from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

_WRITE_UNIT: Final = 1024
_READ_UNIT: Final = 4096
_FIRST_OF_PROCESS: Final = frozenset({"GetQueueUrl", "GetSecretValue", "GetParameter"})
_BY_TESTS: Final = frozenset({"ReceiveMessage", "DeleteMessageBatch"})

Row = dict[str, Any]


@dataclass
class Meter:
    """The requests of a ``with`` block, without those that only a new process or a test sends."""

    requests: Counter[str] = field(default_factory=Counter)
    read_units: float = 0.0
    write_units: Counter[str] = field(default_factory=Counter)


@contextmanager
def metered_requests(patch: pytest.MonkeyPatch) -> Iterator[Meter]:
    """Count the requests of the ``with`` block."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]
    meter = Meter()

    def request(client: BaseClient, operation: str, arguments: Row) -> Any:
        service = client.meta.service_model.service_name
        if operation in _FIRST_OF_PROCESS | _BY_TESTS:
            return real(client, operation, arguments)
        meter.requests[f"{service}.{operation}"] += 1
        writes = list(_writes(operation, arguments))
        before = [_stored(*write) for write in writes]
        response = real(client, operation, arguments)
        factor = 2 if operation == "TransactWriteItems" else 1
        for (table, key), old in zip(writes, before, strict=True):
            new = _stored(table, key)
            size = max(_size(old), _size(new), 1)
            units = factor * math.ceil(size / _WRITE_UNIT)
            meter.write_units[table] += units + _index_units(table, old, new)
        meter.read_units += _read_units(operation, arguments, response)
        return response

    with patch.context() as scope:
        scope.setattr(BaseClient, "_make_api_call", request)
        yield meter


def _tables() -> Any:
    return dynamodb_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].tables


def _writes(operation: str, arguments: Row) -> Iterator[tuple[str, Row]]:
    """Yield the table and the key, or the row with the key, of each write."""
    if operation == "TransactWriteItems":
        for item in arguments["TransactItems"]:
            ((_, write),) = item.items()
            yield write["TableName"], write.get("Key") or write["Item"]
    elif operation in ("PutItem", "UpdateItem", "DeleteItem"):
        yield arguments["TableName"], arguments.get("Key") or arguments["Item"]


def _stored(table: str, key: Row) -> Any:
    schema = _tables()[table]
    names = [name for name in (schema.hash_key_attr, schema.range_key_attr) if name]
    return next(
        (
            row
            for row in schema.all_items()
            if all(row.attrs[name].to_json() == key[name] for name in names)
        ),
        None,
    )


def _size(row: Any) -> int:
    return row.size() if row else 0


def _index_units(table: str, old: Any, new: Any) -> int:
    units = 0
    for index in _tables()[table].global_indexes:
        names = [key["AttributeName"] for key in index.schema]
        entries = [
            [row.attrs[name].to_json() for name in names]
            if row and all(name in row.attrs for name in names)
            else None
            for row in (old, new)
        ]
        is_whole = index.projection["ProjectionType"] == "ALL"
        if entries[0] == entries[1] and not (is_whole and old is not None):
            continue
        size = max(_size(old), _size(new)) if is_whole else 1
        moves = sum(entry is not None for entry in entries) if entries[0] != entries[1] else 1
        units += moves * math.ceil(size / _WRITE_UNIT) if any(entries) else 0
    return units


def _read_units(operation: str, arguments: Row, response: Row) -> float:
    match operation:
        case "GetItem":
            sizes = [_json_size(response.get("Item"))]
            return _units(sizes, arguments)
        case "BatchGetItem":
            return sum(
                _units([_json_size(row) for row in response["Responses"].get(table, [])], keys)
                + _units([0], keys)
                * (len(keys["Keys"]) - len(response["Responses"].get(table, [])))
                for table, keys in arguments["RequestItems"].items()
            )
        case "Query" | "Scan":
            return _units([sum(map(_json_size, response["Items"]))], arguments)
    return 0.0


def _units(sizes: list[int], arguments: Row) -> float:
    factor = 1.0 if arguments.get("ConsistentRead") else 0.5
    return factor * sum(max(1, math.ceil(size / _READ_UNIT)) for size in sizes)


def _json_size(row: Row | None) -> int:
    """Return approximately the size of a row: its names and values, without the type tags."""
    if not row:
        return 0
    return sum(len(name) + len(str(next(iter(value.values())))) for name, value in row.items())
