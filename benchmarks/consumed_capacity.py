"""What reads cost in DynamoDB: the rows looked at and the capacity units they are billed as."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

_READ_UNIT_BYTES: Final = 4096
_EVENTUALLY_CONSISTENT: Final = 0.5
_NESTING_BYTES: Final = 3


@dataclass
class Consumed:
    """What one client's requests have consumed so far.

    Attributes:
        rows: rows that were looked at, answered or not.
        units: capacity units as the service says, those of tables and indexes together.
        read_units_by_size: units of eventually consistent reads, worked out by AWS's rule from the
            sizes of the rows.
    """

    rows: int = 0
    units: float = 0.0
    read_units_by_size: float = 0.0


@contextmanager
def consumed_capacity(client: Any) -> Iterator[Consumed]:
    """What this boto3 client's requests consume inside the block."""
    consumed = Consumed()

    def ask(params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"

    def add(parsed: dict[str, Any], **_: Any) -> None:
        told = parsed.get("ConsumedCapacity", [])
        for table in [told] if isinstance(told, dict) else told:
            consumed.units += table["CapacityUnits"]
        rows = parsed.get("Items", [parsed["Item"]] if "Item" in parsed else [])
        if rows:
            consumed.rows += parsed.get("ScannedCount", len(rows))
            consumed.read_units_by_size += _EVENTUALLY_CONSISTENT * math.ceil(
                sum(map(row_bytes, rows)) / _READ_UNIT_BYTES
            )

    events = client.meta.events
    events.register("provide-client-params.dynamodb.*", ask)
    events.register("after-call.dynamodb.*", add)
    try:
        yield consumed
    finally:
        events.unregister("provide-client-params.dynamodb.*", ask)
        events.unregister("after-call.dynamodb.*", add)


def row_bytes(row: dict[str, Any]) -> int:
    """The size that DynamoDB bills a row by: its names and its values."""
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
