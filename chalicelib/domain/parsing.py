"""Parse external data into a model, or raise one error that lists all validation errors."""

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import MAX_ERRORS, errors_of

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
"""Maximum size of the JSON body of a request."""

Parsed = TypeVar("Parsed", bound=BaseModel)


def parse(
    document: Any, model: type[Parsed], *prefix: str | int, at_most: int = MAX_ERRORS
) -> Parsed:
    """Parse a JSON document into an instance of the model.

    Args:
        at_most: the maximum number of errors in the exception, which counts up to `MAX_ERRORS`.

    Raises:
        InvalidInput: the document does not match the model. Each pointer starts with ``prefix``.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        errors = errors_of(error, *prefix, at_most=at_most)
        raise InvalidInput(errors, min(error.error_count(), MAX_ERRORS)) from None
