"""The values of a document that are more than text: colours and addresses, wherever they stand.

A key says which of the two its value is; ``""`` stands for none.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel

from chalicelib.domain.input_errors import InputError, json_pointer

_COLOUR: Final = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
_ADDRESS_KEYS: Final = frozenset(
    {"url", "sourceUrl", "newReviewUri"}
    | {"website", "twitter", "facebook", "instagram", "linkedin"}
)
_ADDRESS_LIMIT: Final = 2048


def value_errors(value: Any, *path: str | int) -> Iterator[InputError]:
    """A fault for each colour and each address that is not one, anywhere in the document."""
    match value:
        case BaseModel():
            fields = type(value).model_fields
            for name, item in value:
                yield from value_errors(item, *path, fields[name].alias or name)
        case list():
            for position, item in enumerate(value):
                yield from value_errors(item, *path, position)
        case Mapping():
            for key, item in value.items():
                yield from value_errors(item, *path, str(key))
        case str() if value and path:
            yield from _text_errors(value, path)


def is_web_address(text: str) -> bool:
    """Whether the text is an absolute http or https address."""
    if len(text) > _ADDRESS_LIMIT or any(c.isspace() or not c.isprintable() for c in text):
        return False
    try:
        address = urlsplit(text)
        return address.scheme in ("http", "https") and bool(address.hostname)
    except ValueError:
        return False


def _text_errors(text: str, path: tuple[str | int, ...]) -> Iterator[InputError]:
    key = str(path[-1])
    if key.lower().endswith("color") and not _COLOUR.fullmatch(text):
        yield InputError(
            json_pointer(*path),
            "invalid_colour",
            "This must be a hexadecimal colour, such as #0b7285, or empty.",
        )
    if key in _ADDRESS_KEYS and not is_web_address(text):
        yield InputError(
            json_pointer(*path), "invalid_url", "This must be an http or https address, or empty."
        )
