"""Parse external data into a model, or raise one error that lists all validation errors."""

from collections import Counter
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import MAX_ERRORS, errors_of

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
"""Maximum size of the JSON body of a request."""
MAX_CUSTOMER_BYTES: Final = 32 * 1024
"""Maximum size of a customer's JSON."""
MAX_PURCHASE_BYTES: Final = 32 * 1024
"""Maximum size of a purchase's JSON."""
MAX_ROWS: Final = 10_000
"""Maximum number of rows in a batch of customers."""

_MAX_NAME_SHOWN: Final = 50

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


class DuplicateProperty(ValueError):
    """An object in a JSON document has two properties with the same name."""


def json_object(properties: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object with these properties. Use it as the ``object_pairs_hook`` of `json.loads`.

    Raises:
        DuplicateProperty: two properties have the same name. `json.loads` would use the last one.
    """
    content = dict(properties)
    if len(content) < len(properties):
        name, _ = Counter(name for name, _ in properties).most_common(1)[0]
        raise DuplicateProperty(f"Duplicate property {name[:_MAX_NAME_SHOWN]!r} in an object.")
    return content
