"""Parse the definitions that operators load, then check the parsed definitions against rules."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar

from pydantic import ValidationError

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import MAX_ERRORS, InputError, errors_of
from chalicelib.domain.schema import Input

_Definition = TypeVar("_Definition", bound=Input)


def parse_definition(definition: Any, model: type[_Definition]) -> _Definition:
    """Parse a definition into its model.

    Raises:
        InvalidInput: the definition does not match the model. Lists every error, at most
            `MAX_ERRORS`. If the definition is nested too deeply, this is the only error.
    """
    try:
        return model.model_validate(definition, extra="forbid", by_alias=True, by_name=False)
    except ValidationError as error:
        raise InvalidInput(errors_of(error)) from None


def parse_and_validate(
    definition: Any,
    model: type[_Definition],
    rule_errors: Callable[[_Definition], Iterable[InputError]],
) -> _Definition:
    """Parse a definition into its model, then check it with ``rule_errors``.

    Raises:
        InvalidInput: the definition does not match the model, or it violates a rule.
            Lists every error of the failed step, at most `MAX_ERRORS`.
    """
    parsed = parse_definition(definition, model)
    errors = list(islice(rule_errors(parsed), MAX_ERRORS))
    if errors:
        raise InvalidInput(errors)
    return parsed
