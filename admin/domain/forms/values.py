"""Validate the colours and URLs in a form definition.

The name of a field determines whether its value is a colour or a URL. ``""`` means unset.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from chalicelib.domain.forms.web_url import is_https_url
from chalicelib.domain.input_errors import InputError, json_pointer

_COLOUR: Final = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
_URL_FIELDS: Final = frozenset(
    {"url", "sourceUrl", "newReviewUri"}
    | {"website", "twitter", "facebook", "instagram", "linkedin"}
)


def value_errors(value: Any, *path: str | int) -> Iterator[InputError]:
    """Yield an error for each invalid colour and URL in the value, at any depth."""
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


def _text_errors(text: str, path: tuple[str | int, ...]) -> Iterator[InputError]:
    key = str(path[-1])
    if key.lower().endswith("color") and not _COLOUR.fullmatch(text):
        yield InputError(
            json_pointer(*path),
            "invalid_colour",
            "Must be a hexadecimal colour, such as #0b7285, or empty.",
        )
    if key in _URL_FIELDS and not is_https_url(text):
        yield InputError(json_pointer(*path), "invalid_url", "Must be an https URL, or empty.")
