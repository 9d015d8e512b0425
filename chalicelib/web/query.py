"""Parse query parameters. Unknown parameters are ignored."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from chalice.app import Request

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError


def parameters(request: Request) -> Mapping[str, str]:
    """Return the parameters; if a parameter is repeated, its last value."""
    return request.query_params or {}


def text(request: Request, name: str) -> str | None:
    """Return the raw parameter, or None if it is missing or empty."""
    return parameters(request).get(name) or None


def texts(request: Request, prefix: str) -> dict[str, list[str]]:
    """Return the values of all parameters with this prefix, by their name without the prefix."""
    given = request.query_params
    names = [name for name in given or () if name.startswith(prefix)]
    return {name.removeprefix(prefix): given.getlist(name) for name in names} if given else {}


def identifier(request: Request, name: str) -> str:
    """Return the parameter as a UUID in lower case.

    Raises:
        InvalidInput: the parameter is missing or not a UUID.
    """
    value = parameters(request).get(name)
    if value is None:
        raise InvalidInput([InputError(f"?{name}", "required", "Required.")])
    parsed = parse_id(value)
    if parsed is None:
        detail = "Must be a UUID in the form 8-4-4-4-12."
        raise InvalidInput([InputError(f"?{name}", "invalid_uuid", detail)])
    return parsed


def optional_identifier(request: Request, name: str) -> str | None:
    """Return the parameter as a UUID in lower case, or None if it is missing or empty.

    Raises:
        InvalidInput: the parameter is not a UUID.
    """
    return identifier(request, name) if text(request, name) else None


@contextmanager
def query_errors() -> Iterator[None]:
    """Change pointers such as ``/id`` to ``?id`` in the input errors of the ``with`` block."""
    try:
        yield
    except InvalidInput as error:
        errors = [replace(item, pointer=f"?{item.pointer[1:]}") for item in error.errors]
        raise InvalidInput(errors, error.error_count) from None
