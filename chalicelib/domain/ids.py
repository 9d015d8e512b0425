"""Identifiers: generate, derive and parse UUIDs."""

import re
from typing import Final
from uuid import UUID, uuid4, uuid5

_PROJECT: Final = UUID("5f0f4b5e-6f6b-4c11-9d3c-8f0d3f6a2a10")
_UUID_FORM: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def new_id() -> str:
    """Return a new random UUID."""
    return str(uuid4())


def derived_id(*causes: str) -> str:
    """Return the UUID (version 5) derived from these causes in this order.

    Creating a record twice under its derived id has no further effect. The causes are joined so
    that different sequences never produce the same id.
    """
    return str(uuid5(_PROJECT, "".join(f"{len(cause)}:{cause}" for cause in causes)))


def parse_id(text: str) -> str | None:
    """Return the UUID in lower case, or None if ``text`` does not have the form 8-4-4-4-12.

    Any version and variant is valid; braces, URNs and bare hexadecimal digits are not.
    """
    lowered = text.lower()
    return lowered if _UUID_FORM.fullmatch(lowered) else None
