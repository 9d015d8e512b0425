"""Define attribute types that PynamoDB does not have or deserializes slowly."""

import json
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, TypeVar, cast

from pydantic_core import from_json
from pynamodb.attributes import Attribute
from pynamodb.constants import BINARY, NUMBER, STRING

from chalicelib.domain.schema import format_timestamp

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
LATEST: Final = datetime.max.replace(tzinfo=UTC)

Value = TypeVar("Value")


def optional(kind: Callable[..., Attribute[Value]]) -> Attribute[Value | None]:
    """Declare an attribute whose value can be None: in the table, the row does not have it.

    For mypy, PynamoDB's attributes never have the value None. This is right for an attribute that
    only rows of another kind in the same table do not have: declare it with ``null=True``.
    """
    return cast(Attribute[Value | None], kind(null=True))


class IntegerAttribute(Attribute[int]):
    """An integer, stored as a number."""

    attr_type = NUMBER

    def serialize(self, value: int) -> str:
        """Convert the integer to decimal digits."""
        return str(value)

    def deserialize(self, value: str) -> int:
        """Convert the stored digits to an integer."""
        return int(value)


class TimestampAttribute(Attribute[datetime]):
    """A time with milliseconds, stored as text whose order is that of the times."""

    attr_type = STRING

    def serialize(self, value: datetime) -> str:
        """Format the time in UTC."""
        return format_timestamp(value)

    def deserialize(self, value: str) -> datetime:
        """Parse the stored text."""
        return datetime.fromisoformat(value)


class JsonAttribute(Attribute[Value]):
    """A JSON value, stored as a string.

    Declare a type without methods that change the value, such as `Mapping`: a change in place would
    not be noticed and not be stored.
    """

    attr_type = STRING

    def serialize(self, value: Value) -> str:
        """Convert the value to JSON text."""
        return json.dumps(value)

    def deserialize(self, value: str) -> Value:
        """Parse the stored JSON text."""
        return cast(Value, from_json(value))


class CompressedJsonAttribute(Attribute[bytes]):
    """UTF-8 JSON text, stored compressed.

    This requires far less storage and time than a nested map, but the text can only be read and
    written as a whole.
    """

    attr_type = BINARY

    def serialize(self, value: bytes) -> bytes:
        """Compress the JSON text."""
        return zlib.compress(value, level=6)

    def deserialize(self, value: bytes) -> bytes:
        """Decompress the JSON text."""
        return zlib.decompress(value)
