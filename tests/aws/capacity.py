"""Compute the capacity units that DynamoDB bills for requests to the tables in memory."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Key = tuple[str, str]
"""A table (``customers``) or an index (``customers/due``), and the value of its partition key."""

_READ_UNIT_BYTES: Final = 4096
_WRITE_UNIT_BYTES: Final = 1024
_NESTING_BYTES: Final = 3


@dataclass
class Meter:
    """The requests of some time, and what they consumed, by AWS's rules.

    Attributes:
        requests: the number of requests by operation, such as ``dynamodb.GetItem``.
        rows: the rows and index entries that were read, including those that a filter omits.
        reads, writes: the units by partition key. A failed request consumes none.
    """

    requests: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    reads: Counter[Key] = field(default_factory=Counter)
    writes: Counter[Key] = field(default_factory=Counter)

    @property
    def read_units(self) -> float:
        """The read units of all tables and indexes."""
        return sum(self.reads.values())

    @property
    def write_units(self) -> Counter[str]:
        """The write units of each table with its indexes."""
        units: Counter[str] = Counter()
        for (name, _), number in self.writes.items():
            units[name.partition("/")[0]] += number
        return units

    def count_read(self, key: Key, rows: Iterable[Mapping[str, Any]], request: Any) -> None:
        """Count the units of rows that are read together: one for 4 KB, or a half."""
        sizes = [row_bytes(row) for row in rows]
        self.rows += len(sizes)
        units = max(1, math.ceil(sum(sizes) / _READ_UNIT_BYTES))
        self.reads[key] += units if request.get("ConsistentRead") else units / 2  # type: ignore[assignment]

    def count_write(self, key: Key, rows: Iterable[Any], factor: int = 1) -> None:
        """Count the units of a write: one for each KB of the larger of these rows."""
        size = max(row_bytes(row) if row else 1 for row in rows)
        self.writes[key] += factor * math.ceil(size / _WRITE_UNIT_BYTES)


def hottest(units: Mapping[Key, float]) -> dict[str, float]:
    """Return the units of the hottest key of each table and index."""
    found: dict[str, float] = {}
    for (name, _), count in units.items():
        found[name] = max(found.get(name, 0), count)
    return found


def row_bytes(row: Mapping[str, Any]) -> int:
    """Return the billed size of a row: the bytes of its attribute names and values."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in row.items())


def _value_bytes(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return (len(content.strip("-.")) + 1) // 2 + 1
        case "B":
            return len(content) if isinstance(content, bytes) else len(content) * 3 // 4  # Base64
        case "SS" | "NS" | "BS":
            return sum(_value_bytes({kind[0]: member}) for member in content)
        case "M":
            return _NESTING_BYTES + row_bytes(content) + len(content)
        case "L":
            return _NESTING_BYTES + sum(_value_bytes(member) + 1 for member in content)
    return 1
