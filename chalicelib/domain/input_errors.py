"""Input errors, each with location, code and message, and functions that create them."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from pydantic import ValidationError

MAX_ERRORS: Final = 1_000
"""Validation of one input stops after this many errors."""
MAX_POINTER_STEP: Final = 300
"""Maximum length of one step of a pointer. The rest of a longer property name is cut off."""


_PYDANTIC: Final = {
    "missing": ("required", "Required."),
    "extra_forbidden": ("unknown_key", "Unknown field."),
    "string_too_long": ("too_long", "Must be at most {max_length} characters."),
    "string_too_short": ("too_short", "Must be at least {min_length} characters."),
    "too_long": ("too_many", "Must have at most {max_length} items."),
    "too_short": ("too_few", "Must have at least {min_length} items."),
    "string_unicode": ("not_unicode", "Invalid Unicode: the text contains a lone surrogate."),
    "string_type": ("wrong_type", "Must be a string."),
    "bool_type": ("wrong_type", "Must be true or false."),
    "int_type": ("wrong_type", "Must be an integer."),
    "float_type": ("wrong_type", "Must be a number."),
    "dict_type": ("wrong_type", "Must be an object."),
    "list_type": ("wrong_type", "Must be an array."),
    "model_type": ("wrong_type", "Must be an object."),
    "model_attributes_type": ("wrong_type", "Must be an object."),
    "enum": ("not_allowed", "Must be {expected}."),
    "literal_error": ("not_allowed", "Must be {expected}."),
    "greater_than_equal": ("out_of_range", "Must be at least {ge}."),
    "less_than_equal": ("out_of_range", "Must be at most {le}."),
    "finite_number": ("out_of_range", "Must be a finite number."),
    "recursion_loop": ("invalid", "Nested too deeply."),
}
"""Error codes and messages by pydantic's error type.

The values of the placeholders, such as ``{min_length}``, come from the context of pydantic's error.
"""

_MAX_DETAIL_LENGTH: Final = 500


@dataclass(frozen=True)
class InputError:
    """One error in an input.

    Attributes:
        pointer: the location: a JSON pointer (RFC 6901) into the body, ``?name`` for a query
            parameter, or the name of a header.
        code: machine-readable error code: ``required``, ``too_long``, ``unknown_key`` …
        detail: human-readable sentence: what is wrong or what is allowed.
        path: the names and indexes in the pointer, if the error was created with `at`.
    """

    pointer: str
    code: str
    detail: str
    path: tuple[str | int, ...] = field(default=(), compare=False)

    @classmethod
    def at(cls, path: tuple[str | int, ...], code: str, detail: str) -> Self:
        """Create the error of the value at a path of names and indexes in the body."""
        return cls(json_pointer(*path), code, detail, path)


def json_pointer(*path: str | int) -> str:
    """Return the JSON pointer (RFC 6901) for a path of names and indexes; ``""`` for the root."""
    return "".join("/" + _printable(str(p)).replace("~", "~0").replace("/", "~1") for p in path)


def invalid_combination(detail: str, *path: str | int) -> InputError:
    """Create the error for a value that contradicts another one, or needs another one."""
    return InputError.at(path, "invalid_combination", detail)


def out_of_range(detail: str, *path: str | int) -> InputError:
    """Create the error for a value outside its limits."""
    return InputError.at(path, "out_of_range", detail)


def duplicate(*path: str | int) -> InputError:
    """Create the error for a duplicate of a value that must be unique."""
    return InputError.at(path, "duplicate", "Duplicate value.")


def unknown_reference(resource: str, *path: str | int) -> InputError:
    """Create the error for a reference to a resource that does not exist."""
    return InputError.at(path, "unknown_reference", f"There is no such {resource}.")


def duplicate_positions(values: Iterable[Hashable]) -> list[int]:
    """Return the position of each value that equals a value at an earlier position.

    For ``["a", "b", "a"]``, the result is ``[2]``. None is never a duplicate.
    """
    seen: set[Hashable] = set()
    positions: list[int] = []
    for position, value in enumerate(values):
        if value in seen:
            positions.append(position)
        elif value is not None:
            seen.add(value)
    return positions


def errors_of(
    error: ValidationError, *prefix: str | int, at_most: int = MAX_ERRORS
) -> list[InputError]:
    """Convert the first errors of pydantic's exception to input errors.

    The order stays the same. Each pointer starts with ``prefix``.
    """
    return [
        InputError.at(
            (*prefix, *_path(details["loc"])),
            *_code_and_detail(details["type"], details["msg"], details.get("ctx", {})),
        )
        for details in error.errors(include_url=False, include_input=False)[:at_most]
    ]


def _path(location: Sequence[str | int]) -> Sequence[str | int]:
    # If a property name is invalid, pydantic appends "[key]" to the path; a JSON pointer omits it.
    return location[:-1] if location and location[-1] == "[key]" else location


def _code_and_detail(kind: str, message: str, context: dict[str, Any]) -> tuple[str, str]:
    code, detail = _PYDANTIC.get(kind, (kind if kind in _DOMAIN_CODES else "invalid", message))
    if kind in ("string_too_short", "too_short") and context.get("min_length") == 1:
        return ("required" if kind == "string_too_short" else code), "Must not be empty."
    if kind in _PYDANTIC:
        detail = detail.format(**context)
    if len(detail) > _MAX_DETAIL_LENGTH:  # a long list of allowed values
        return code, "Must be one of the documented values."
    return code, detail if detail.endswith(".") else f"{detail}."


def _printable(key: str) -> str:
    return key[:MAX_POINTER_STEP].encode("utf-8", "replace").decode("utf-8")


# Error codes that validators in `domain` raise with PydanticCustomError.
_DOMAIN_CODES: Final = frozenset(
    (
        "too_many invalid_date invalid_email invalid_uuid invalid_timestamp invalid_colour"
        " invalid_url unknown_reference cycle duplicate required wrong_type not_unicode"
        " not_allowed invalid_combination not_whole out_of_range empty malformed"
    ).split()
)
