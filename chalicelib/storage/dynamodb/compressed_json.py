"""A column that holds one JSON document, compressed.

What is read and written whole costs far less this way than as a deep DynamoDB map.
"""

import zlib

from pynamodb.attributes import Attribute
from pynamodb.constants import BINARY


def decompress(value: bytes) -> bytes:
    """The JSON text of a column's value."""
    return zlib.decompress(value)


def compress(text: bytes) -> bytes:
    """A column's value for a JSON text."""
    return zlib.compress(text, level=6)


class CompressedJsonAttribute(Attribute[bytes]):
    """JSON text as UTF-8 bytes, kept deflated."""

    attr_type = BINARY

    def serialize(self, value: bytes) -> bytes:
        """The bytes to keep."""
        return compress(value)

    def deserialize(self, value: bytes) -> bytes:
        """The JSON text."""
        return decompress(value)
