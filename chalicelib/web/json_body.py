"""Parse JSON request bodies: media type, size, syntax, model."""

import json
from typing import Any, Final, NoReturn, TypeVar

from chalice.app import Request
from pydantic import BaseModel

from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.parsing import parse
from chalicelib.web.problems import UnsupportedMediaType

MEDIA_TYPE: Final = "application/json"
MAX_BYTES: Final = 4 * 1024 * 1024

MAX_VALUES: Final = 40_000
"""Maximum number of values in a body, except a batch. No customer of 32 KB has more."""

Body = TypeVar("Body", bound=BaseModel)


def read_json(
    request: Request, *, max_bytes: int = MAX_BYTES, max_values: int | None = None
) -> Any:
    """Return the parsed body.

    Raises:
        UnsupportedMediaType: the media type is not JSON. Its parameters are ignored.
        InputTooLarge: the body exceeds ``max_bytes``.
        InvalidInput: the body is not JSON (RFC 8259) in UTF-8, or may have more than
            ``max_values`` values.
    """
    declared = request.headers.get("content-type", "")
    if declared.partition(";")[0].strip().lower() != MEDIA_TYPE:
        raise UnsupportedMediaType(MEDIA_TYPE)
    raw: Any = request.raw_body
    if len(raw) > max_bytes:
        raise InputTooLarge("body", max_bytes)
    # A value needs up to 100 bytes of memory. Siblings are separated by commas.
    if max_values is not None and raw.count(b",") > max_values:
        raise InvalidInput([InputError("", "too_many", f"Must have at most {max_values} values.")])
    return parse_json(raw)


def parse_json(raw: bytes | str) -> Any:
    """Parse JSON.

    Raises:
        InvalidInput: the input is not JSON (RFC 8259) in UTF-8.
    """
    try:
        return json.loads(
            raw if isinstance(raw, str) else raw.decode("utf-8"), parse_constant=_reject_constant
        )
    except UnicodeDecodeError:
        detail = "The body is not UTF-8."
    except json.JSONDecodeError as error:
        detail = f"The body is not JSON: {error.msg} at character {error.pos}."
    except RecursionError:
        detail = "The body is nested too deeply."
    except ValueError:
        detail = "The body contains a number that cannot be parsed."
    raise InvalidInput([InputError("", "malformed", detail)])


def read_model(request: Request, model: type[Body]) -> Body:
    """Parse the body as an instance of the model.

    Raises:
        UnsupportedMediaType: the media type is not JSON.
        InputTooLarge: the body exceeds the size limit.
        InvalidInput: the body is not JSON, has too many values or does not match the model.
    """
    return parse(read_json(request, max_values=MAX_VALUES), model)


def read_optional_model(request: Request, model: type[Body]) -> Body:
    """Parse the body like `read_model`, but treat an empty body of any media type as ``{}``."""
    return read_model(request, model) if request.raw_body else parse({}, model)


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(name)
