"""Parse external data into a model, or raise one error that lists all validation errors."""

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import errors_of

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
"""Maximum size of the JSON body of a request."""

Parsed = TypeVar("Parsed", bound=BaseModel)


def parse(document: Any, model: type[Parsed], *prefix: str | int) -> Parsed:
    """Parse a JSON document into an instance of the model.

    Raises:
        InvalidInput: the document does not match the model. Each pointer starts with ``prefix``.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise InvalidInput(errors_of(error, *prefix)) from None
