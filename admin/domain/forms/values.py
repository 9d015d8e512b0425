"""Validate the colours and URLs in a form definition.

The name of a field determines whether its value is a colour or a URL. ``""`` means unset.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from chalicelib.domain.forms.web_url import is_https_url
from chalicelib.domain.input_errors import InputError, errors_of, json_pointer
from chalicelib.domain.schema import Colour

_COLOUR: Final = TypeAdapter[str](Colour)
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
    if key.lower().endswith("color"):
        try:
            _COLOUR.validate_python(text)
        except ValidationError as error:
            yield from errors_of(error, *path)
    if key in _URL_FIELDS and not is_https_url(text):
        yield InputError(json_pointer(*path), "invalid_url", "Must be an https URL, or empty.")
