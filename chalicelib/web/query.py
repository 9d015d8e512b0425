"""Parse query parameters. Unknown ones are ignored."""

from chalice.app import Request

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError


def text(request: Request, name: str) -> str | None:
    """Return the raw parameter, or None if it is missing or empty."""
    parameters = request.query_params
    return (parameters.get(name) if parameters else None) or None


def identifier(request: Request, name: str) -> str:
    """Return the parameter as a UUID in lower case.

    Raises:
        InvalidInput: it is missing or not a UUID.
    """
    parameters = request.query_params
    given = parameters.get(name) if parameters else None
    if given is None:
        raise InvalidInput([InputError(f"?{name}", "required", "Required.")])
    return _parsed(name, given)


def optional_identifier(request: Request, name: str) -> str | None:
    """Like `identifier`, but None if the parameter is missing or empty."""
    given = text(request, name)
    return _parsed(name, given) if given else None


def _parsed(name: str, given: str) -> str:
    parsed = parse_id(given)
    if parsed is None:
        input_error = InputError(
            f"?{name}", "invalid_uuid", "Must be a UUID in the form 8-4-4-4-12."
        )
        raise InvalidInput([input_error])
    return parsed
