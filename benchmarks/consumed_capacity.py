"""Count the rows that DynamoDB requests examine and the capacity units that they consume."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

_READ_UNIT_BYTES: Final = 4096
_EVENTUALLY_CONSISTENT: Final = 0.5
_NESTING_BYTES: Final = 3
_READS: Final = frozenset({"BatchGetItem", "GetItem", "Query", "Scan"})


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

    def request_capacity(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"
        context["request"] = params

    def add(parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        if model.name not in _READS:
            reported = parsed.get("ConsumedCapacity", [])
            tables = [reported] if isinstance(reported, dict) else reported
            consumed.write_units += sum(table["CapacityUnits"] for table in tables)
            return
        request = context["request"]
        if model.name == "BatchGetItem":
            for table, table_request in request["RequestItems"].items():
                rows = parsed["Responses"].get(table, [])
                missing = len(table_request["Keys"]) - len(rows)
                consumed.rows += len(rows)
                consumed.read_units_by_size += _units_per_block(table_request) * (
                    sum(_blocks([row]) for row in rows) + missing
                )
        else:
            rows = parsed.get("Items", [parsed["Item"]] if "Item" in parsed else [])
            consumed.rows += parsed.get("ScannedCount", len(rows))
            consumed.read_units_by_size += _units_per_block(request) * _blocks(rows)

    events = client.meta.events
    events.register("provide-client-params.dynamodb.*", request_capacity)
    events.register("after-call.dynamodb.*", add)
    try:
        yield consumed
    finally:
        events.unregister("provide-client-params.dynamodb.*", request_capacity)
        events.unregister("after-call.dynamodb.*", add)


def _units_per_block(request: dict[str, Any]) -> float:
    return 1.0 if request.get("ConsistentRead") else _EVENTUALLY_CONSISTENT


def _blocks(rows: list[dict[str, Any]]) -> int:
    return max(1, math.ceil(sum(map(row_bytes, rows)) / _READ_UNIT_BYTES))


def row_bytes(row: dict[str, Any]) -> int:
    """Return the billed size of a row: the bytes of its attribute names and values."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in row.items())


def _value_bytes(value: dict[str, Any]) -> int:
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
