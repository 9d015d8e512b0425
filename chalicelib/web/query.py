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
    parsed, errors = identifiers(request, name)
    if errors:
        raise InvalidInput(errors)
    return parsed[name]


def identifiers(
    request: Request, required: str, *optional: str
) -> tuple[Mapping[str, str], list[InputError]]:
    """Return the parameters as UUIDs in lower case, by name, and the errors of invalid ones.

    An optional parameter that is missing or empty is omitted.
    """
    given = parameters(request)
    parsed: dict[str, str] = {}
    errors = []
    for name in (required, *filter(given.get, optional)):
        if found := parse_id(given.get(name, "")):
            parsed[name] = found
        elif name in given:
            detail = "Must be a UUID in the form 8-4-4-4-12."
            errors.append(InputError(f"?{name}", "invalid_uuid", detail))
        else:
            errors.append(InputError(f"?{name}", "required", "Required."))
    return parsed, errors


@contextmanager
def query_errors() -> Iterator[None]:
    """Change pointers such as ``/id`` to ``?id`` in the input errors of the ``with`` block."""
    try:
        yield
    except InvalidInput as error:
        errors = [replace(item, pointer=f"?{item.pointer[1:]}") for item in error.errors]
        raise InvalidInput(errors, error.error_count) from None
