"""Count the rows and capacity units that requests to DynamoDB consume."""

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
    """The capacity that one client's requests have consumed so far.

    Attributes:
        rows: rows examined, returned or not.
        read_units: read units reported by the service, tables and indexes together.
        write_units: write units reported by the service.
        read_units_by_size: read units computed from the sizes of the rows by AWS's rule.
    """

    rows: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    read_units_by_size: float = 0.0


@contextmanager
def consumed_capacity(client: Any) -> Iterator[Consumed]:
    """Count what this boto3 client's requests consume inside the block."""
    consumed = Consumed()

    def ask(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"
        context["asked"] = params

    def add(parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        told = parsed.get("ConsumedCapacity", [])
        tables = [told] if isinstance(told, dict) else told
        units = sum(table["CapacityUnits"] for table in tables)
        if model.name not in _READS:
            consumed.write_units += units
            return
        consumed.read_units += units
        requested = context["asked"]
        if model.name == "BatchGetItem":
            for table, wanted in requested["RequestItems"].items():
                rows = parsed["Responses"].get(table, [])
                missing = len(wanted["Keys"]) - len(rows)
                consumed.rows += len(rows)
                consumed.read_units_by_size += _unit(wanted) * (
                    sum(_blocks([row]) for row in rows) + missing
                )
        else:
            rows = parsed.get("Items", [parsed["Item"]] if "Item" in parsed else [])
            consumed.rows += parsed.get("ScannedCount", len(rows))
            consumed.read_units_by_size += _unit(requested) * _blocks(rows)

    events = client.meta.events
    events.register("provide-client-params.dynamodb.*", ask)
    events.register("after-call.dynamodb.*", add)
    try:
        yield consumed
    finally:
        events.unregister("provide-client-params.dynamodb.*", ask)
        events.unregister("after-call.dynamodb.*", add)


def _unit(requested: dict[str, Any]) -> float:
    return 1.0 if requested.get("ConsistentRead") else _EVENTUALLY_CONSISTENT


def _blocks(rows: list[dict[str, Any]]) -> int:
    return max(1, math.ceil(sum(map(row_bytes, rows)) / _READ_UNIT_BYTES))


def row_bytes(row: dict[str, Any]) -> int:
    """Return the billed size of a row: its names and values."""
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
