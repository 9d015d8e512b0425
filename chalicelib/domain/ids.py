"""Identifiers: new ones, ones derived from their causes, and ones that come from outside."""

import re
from typing import Final
from uuid import UUID, uuid4, uuid5

_PROJECT: Final = UUID("5f0f4b5e-6f6b-4c11-9d3c-8f0d3f6a2a10")
_UUID_FORM: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def new_id() -> str:
    """A new random identifier."""
    return str(uuid4())


def derived_id(*causes: str) -> str:
    """The identifier (UUID version 5) that always follows from these causes, in this order.

    Making a thing twice under its derived id makes it once. Causes are joined so that no two
    different sequences share an id.
    """
    return str(uuid5(_PROJECT, "".join(f"{len(cause)}:{cause}" for cause in causes)))


def parse_id(text: str) -> str | None:
    """The identifier in lower case, or None when ``text`` is not of the form 8-4-4-4-12.

    Any version and variant is accepted; braces, URNs and bare hexadecimal are not.
    """
    lowered = text.lower()
    return lowered if _UUID_FORM.fullmatch(lowered) else None
