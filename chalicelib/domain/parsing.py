"""Parse external data into a model, or raise one error that lists all validation errors."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import errors_of

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
