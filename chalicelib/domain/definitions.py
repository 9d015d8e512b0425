"""Reading a document and judging it by its rules, so that all that is wrong is told at once."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import InputError, errors_of
from chalicelib.domain.well_shaped import well_shaped

_Read = TypeVar("_Read", bound=BaseModel)


@contextmanager
def bounded_depth() -> Iterator[None]:
    """Has a document that is nested deeper than can be judged refused, by one fault."""
    try:
        yield
    except RecursionError:
        raise InvalidInput([InputError("", "too_deep", "This is nested too deeply.")]) from None


@bounded_depth()
def parse_and_validate(
    document: Any,
    model: type[_Read],
    rule_errors: Callable[[_Read], Iterable[InputError]],
    **reading: Any,
) -> _Read:
    """The document as its model, when it keeps every rule.

    Args:
        faults_in: the rules. They judge a malformed document too, as far as it is well-shaped.
        reading: how `pydantic.BaseModel.model_validate` is to read it.

    Raises:
        InvalidInput: with every value that does not fit, and every rule that is broken beside them.
    """
    errors: list[InputError] = []
    try:
        read = model.model_validate(document, **reading)
    except ValidationError as error:
        errors += errors_of(error)
        read = well_shaped(model, document)
    errors += rule_errors(read)
    if errors:
        raise InvalidInput(errors)
    return read
