"""Parse the definitions that operators load, and the parts that several kinds of them share."""

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Annotated, Any, Final, TypeVar

from pydantic import ValidationError, WithJsonSchema, model_validator

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import MAX_ERRORS, InputError, errors_of
from chalicelib.domain.schema import WHITE_SPACE, Input, must

_COLOUR: Final = re.compile(r"#(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})")


Colour = Annotated[
    str,
    must(
        lambda text: not text or _COLOUR.fullmatch(text),
        "invalid_colour",
        'Must be a hexadecimal colour in quotes, such as "#0b7285", or empty.',
    ),
    WithJsonSchema({"type": "string", "pattern": f"^(?:{_COLOUR.pattern})?$"}),
]
"""A hexadecimal colour with 3, 4, 6 or 8 digits, or ``""``."""


_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")


ID: Final = "The id. Default with a key: derived from the key."
KEY: Final = "The name by which definitions in the account refer to it, instead of its id."
Key = Annotated[
    str,
    must(
        lambda text: not text or _KEY.fullmatch(text),
        "invalid",
        "Must be 1 to 32 letters, digits, dots, hyphens and underscores, starting with a letter or"
        " a digit.",
    ),
    WithJsonSchema({"type": "string", "pattern": f"^(?:{_KEY.pattern})?$"}),
]
"""The key of a brand, store or form: a name, unique in its account and kind, or ``""``.

It is shorter than an id, so that a text is never both.
"""


MAX_LEVELS: Final = 200
"""Maximum number of nested objects and arrays in a definition."""


class NormalizedInput(Input):
    """A definition whose strings are trimmed and whose nulls are removed at every depth.

    The base class `Input` normalizes only the fields of the model itself. Definitions also contain
    nested models that are not derived from `Input`.
    """

    @model_validator(mode="before")
    @classmethod
    def _normalize(cls, definition: Any) -> Any:
        return _normalized(definition)


def _normalized(value: Any, levels: int = MAX_LEVELS) -> Any:
    if isinstance(value, str):
        return value.strip(WHITE_SPACE)
    if not isinstance(value, list | dict):
        return value
    if not levels:
        raise InvalidInput([InputError("", "too_deep", "Nested too deeply.")])
    if isinstance(value, list):
        return [_normalized(item, levels - 1) for item in value]
    return {key: _normalized(item, levels - 1) for key, item in value.items() if item is not None}


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
