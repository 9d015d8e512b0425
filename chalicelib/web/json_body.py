"""Parse JSON request bodies and check their media type, size and syntax."""

import json
import re
from typing import Any, Final, NoReturn

from chalice.app import Request

from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.parsing import MAX_BODY_BYTES, DuplicateProperty, json_object
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


def read_json(request: Request, *, max_values: int | None = None, is_optional: bool = False) -> Any:
    """Return the parsed JSON body of the request.

    Args:
        is_optional: treat an empty body of any media type as ``{}``.

    Raises:
        UnsupportedMediaType: the media type is not JSON, the charset is not UTF-8, or the request
            has a content encoding.
        InputTooLarge: the body exceeds `MAX_BODY_BYTES`.
        InvalidInput: the body is not JSON (RFC 8259) in UTF-8, or may have more than
            ``max_values`` values, or has more than `MAX_CONTAINERS` objects and arrays, or an
            object has two properties with the same name.
    """
    reject_content_encoding(request)
    if is_optional and not _raw_body(request):
        return {}
    require_media_type(request, MEDIA_TYPE)
    raw = _raw_body(request)
    if len(raw) > MAX_BODY_BYTES:
        raise InputTooLarge("body", MAX_BODY_BYTES)
    # A value needs up to 100 bytes of memory. The number of commas limits the number of values.
    if max_values is not None and raw.count(b",") > max_values:
        raise _too_many(max_values, "values")
    # An empty array needs 64 bytes of memory for three bytes of JSON.
    if _containers(raw) > MAX_CONTAINERS and _containers(_STRING.sub(b"", raw)) > MAX_CONTAINERS:
        raise _too_many(MAX_CONTAINERS, "objects and arrays")
    try:
        text = raw.decode("utf-8")
        if _REPLACEMENT in text:
            raise malformed(_NOT_UTF_8)
        if text.startswith(_BYTE_ORDER_MARK):
            raise malformed("The body starts with a byte order mark. Send it without this mark.")
        return json.loads(text, parse_constant=_reject_constant, object_pairs_hook=json_object)
    except DuplicateProperty as error:
        raise InvalidInput([InputError("", "duplicate", str(error))]) from None
    except UnicodeDecodeError:
        detail = _NOT_UTF_8
    except json.JSONDecodeError as error:
        detail = f"The body is not valid JSON at character {error.pos}."
    except RecursionError:
        detail = "The body is nested too deeply."
    except ValueError:
        detail = "The body contains a number that cannot be parsed."
    raise malformed(detail)


def _raw_body(request: Request) -> bytes:
    try:
        raw: Any = request.raw_body
    except ValueError:  # a lone surrogate in the event, or invalid Base64
        raise malformed(_NOT_UTF_8) from None
    return bytes(raw)


def _containers(json_text: bytes) -> int:
    # Containers beside each other are separated by commas. Containers inside each other have no
    # comma between them, but the parser limits the nesting depth.
    return min(json_text.count(b"[") + json_text.count(b"{"), json_text.count(b","))


def _too_many(maximum: int, items: str) -> InvalidInput:
    return InvalidInput([InputError("", "too_many", f"Must have at most {maximum} {items}.")])


def malformed(detail: str) -> InvalidInput:
    """Return the error for a body that cannot be parsed."""
    return InvalidInput([InputError("", "malformed", detail)])


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(name)
