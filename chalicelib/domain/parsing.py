"""Turning what came from outside into a model, or into a list of all that is wrong with it."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import errors_of

Parsed = TypeVar("Parsed", bound=BaseModel)


def parse(document: Any, model: type[Parsed], *prefix: str | int) -> Parsed:
    """The document as the model describes it.

    Raises:
        InvalidInput: it breaks the model's rules; each fault's pointer is led by ``prefix``.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise InvalidInput(errors_of(error, *prefix)) from None
