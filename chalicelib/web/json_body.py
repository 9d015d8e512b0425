"""Parse JSON request bodies and check their media type, size, syntax and model."""

import json
import re
from typing import Any, Final, NoReturn, TypeVar

from chalice.app import Request
from pydantic import BaseModel

from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.parsing import MAX_BODY_BYTES, parse
from chalicelib.web.media_type import reject_content_encoding, require_media_type

MEDIA_TYPE: Final = "application/json"
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
"""The gateway decodes the body and replaces invalid UTF-8 by this character.

A client that sends the character itself must escape it.
"""
_BYTE_ORDER_MARK: Final = "\ufeff"
_NOT_UTF_8: Final = (
    "The body is not UTF-8, or contains an unescaped U+FFFD. Send U+FFFD as \\ufffd."
)

MAX_VALUES: Final = 40_000
"""Maximum number of values in the body of any request except a batch.

A valid customer always has fewer values, because its size is limited to 32 KB.
"""

MAX_CONTAINERS: Final = 100_000
"""Maximum number of objects and arrays in a body.

A valid batch contains fewer objects and arrays: at most two objects for each of its 10,000 rows.
"""
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""A string. The final quote is optional: otherwise, the search would continue at each quote in an
unterminated string, and the time would grow with the square of the length.
"""

Body = TypeVar("Body", bound=BaseModel)


def read_json(
    request: Request, *, max_bytes: int = MAX_BODY_BYTES, max_values: int | None = None
) -> Any:
    """Return the parsed JSON body of the request.

    Raises:
        UnsupportedMediaType: the media type is not JSON, the charset is not UTF-8, or the request
            has a content encoding.
        InputTooLarge: the body exceeds ``max_bytes``.
        InvalidInput: the body is not JSON (RFC 8259) in UTF-8, or may have more than
            ``max_values`` values, or has more than `MAX_CONTAINERS` objects and arrays.
    """
    reject_content_encoding(request)
    require_media_type(request, MEDIA_TYPE)
    raw = _raw_body(request)
    if len(raw) > max_bytes:
        raise InputTooLarge("body", max_bytes)
    # A value needs up to 100 bytes of memory. The number of commas limits the number of values.
    if max_values is not None and raw.count(b",") > max_values:
        raise _too_many(max_values, "values")
    # An empty array needs 64 bytes of memory for three bytes of JSON.
    if _containers(raw) > MAX_CONTAINERS and _containers(_STRING.sub(b"", raw)) > MAX_CONTAINERS:
        raise _too_many(MAX_CONTAINERS, "objects and arrays")
    return parse_json(raw)


def parse_json(raw: bytes | str) -> Any:
    """Parse JSON.

    Raises:
        InvalidInput: the input is not JSON (RFC 8259) in UTF-8.
    """
    try:
        text = raw if isinstance(raw, str) else raw.decode("utf-8")
        if _REPLACEMENT in text:
            raise _malformed(_NOT_UTF_8)
        if text.startswith(_BYTE_ORDER_MARK):
            raise _malformed("The body starts with a byte order mark. Send it without this mark.")
        return json.loads(text, parse_constant=_reject_constant)
    except UnicodeDecodeError:
        detail = _NOT_UTF_8
    except json.JSONDecodeError as error:
        detail = f"The body is not valid JSON at character {error.pos}."
    except RecursionError:
        detail = "The body is nested too deeply."
    except ValueError:
        detail = "The body contains a number that cannot be parsed."
    raise _malformed(detail)


def read_model(request: Request, model: type[Body]) -> Body:
    """Parse the body as an instance of the model.

    Raises:
        UnsupportedMediaType: see `read_json`.
        InputTooLarge: the body exceeds the size limit.
        InvalidInput: the body is not JSON, has too many values or does not match the model.
    """
    return parse(read_json(request, max_values=MAX_VALUES), model)


def read_optional_model(request: Request, model: type[Body]) -> Body:
    """Parse the body like `read_model`, but treat an empty body of any media type as ``{}``."""
    reject_content_encoding(request)
    return read_model(request, model) if _raw_body(request) else parse({}, model)


def _raw_body(request: Request) -> bytes:
    try:
        raw: Any = request.raw_body
    except ValueError:  # a lone surrogate in the event, or invalid Base64
        raise _malformed(_NOT_UTF_8) from None
    return bytes(raw)


def _containers(json_text: bytes) -> int:
    # Containers beside each other are separated by commas. Containers inside each other have no
    # comma between them, but the parser limits the nesting depth.
    return min(json_text.count(b"[") + json_text.count(b"{"), json_text.count(b","))


def _too_many(maximum: int, items: str) -> InvalidInput:
    return InvalidInput([InputError("", "too_many", f"Must have at most {maximum} {items}.")])


def _malformed(detail: str) -> InvalidInput:
    return InvalidInput([InputError("", "malformed", detail)])


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(name)
