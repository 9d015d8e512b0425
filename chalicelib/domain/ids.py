"""Identifiers: generate, derive and parse UUIDs."""

import re
from typing import Final
from uuid import UUID, uuid4, uuid5

_NAMESPACE: Final = UUID("5f0f4b5e-6f6b-4c11-9d3c-8f0d3f6a2a10")
_UUID_PATTERN: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def new_id() -> str:
    """Return a new random UUID."""
    return str(uuid4())


def derived_id(*names: str) -> str:
    """Return the version 5 UUID derived from these names, in this order.

    Use a derived id to make the creation of a record idempotent. The length of each name is part of
    the hashed text, so different sequences of names do not produce the same text.
    """
    return str(uuid5(_NAMESPACE, "".join(f"{len(name)}:{name}" for name in names)))


def parse_id(text: str) -> str | None:
    """Return the UUID in lower case, or None if ``text`` does not have the format 8-4-4-4-12.

    Any version and variant is valid; braces, URNs and bare hexadecimal digits are not.
    """
    lowered = text.lower()
    return lowered if _UUID_PATTERN.fullmatch(lowered) else None
