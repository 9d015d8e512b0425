"""A column that holds one JSON document, compressed.

What is read and written whole costs far less this way than as a deep DynamoDB map.
"""

import zlib

from pynamodb.attributes import Attribute
from pynamodb.constants import BINARY


def decompress(value: bytes) -> bytes:
    """The JSON text of a column's value."""
    return zlib.decompress(value)


class CompressedJsonAttribute(Attribute[bytes]):
    """JSON text as UTF-8 bytes, kept deflated."""

    attr_type = BINARY

    def serialize(self, value: bytes) -> bytes:
        """The bytes to keep."""
        return zlib.compress(value, level=6)

    def deserialize(self, value: bytes) -> bytes:
        """The JSON text."""
        return decompress(value)
