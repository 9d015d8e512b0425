"""Query parameters. Those that an endpoint does not know are ignored."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from chalice.app import Request

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError


def text(request: Request, name: str) -> str | None:
    """The parameter of this name as it came, None when it is missing or empty."""
    parameters = request.query_params
    return (parameters.get(name) if parameters else None) or None


def identifier(request: Request, name: str) -> str:
    """The parameter of this name, a UUID, in lower case.

    Raises:
        InvalidInput: it is missing or no UUID.
    """
    parameters = request.query_params
    given = parameters.get(name) if parameters else None
    if given is None:
        raise InvalidInput([InputError(f"?{name}", "required", "This is required.")])
    return _parsed(name, given)


def optional_identifier(request: Request, name: str) -> str | None:
    """As `identifier`, where a missing or empty parameter is None."""
    given = text(request, name)
    return _parsed(name, given) if given else None


@contextmanager
def query_errors() -> Iterator[None]:
    """Report input errors of the block by query parameter: ``?store`` instead of ``/store``."""
    try:
        yield
    except InvalidInput as error:
        errors = [replace(each, pointer=f"?{each.pointer[1:]}") for each in error.errors]
        raise InvalidInput(errors, error.error_count) from None


def _parsed(name: str, given: str) -> str:
    parsed = parse_id(given)
    if parsed is None:
        input_error = InputError(
            f"?{name}", "invalid_uuid", "This must be a UUID of the form 8-4-4-4-12."
        )
        raise InvalidInput([input_error])
    return parsed
