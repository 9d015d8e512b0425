"""What is wrong with an input, and where: one `InputError` for each broken rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

_CODES: Final = {
    "missing": "required",
    "extra_forbidden": "unknown_key",
    "string_too_long": "too_long",
    "string_too_short": "too_short",
    "too_long": "too_many",
    "too_short": "too_few",
    "string_unicode": "not_unicode",
    "string_type": "wrong_type",
    "bool_type": "wrong_type",
    "int_type": "wrong_type",
    "float_type": "wrong_type",
    "dict_type": "wrong_type",
    "list_type": "wrong_type",
    "model_type": "wrong_type",
    "model_attributes_type": "wrong_type",
    "enum": "not_allowed",
    "literal_error": "not_allowed",
    "greater_than_equal": "out_of_range",
    "less_than_equal": "out_of_range",
    "finite_number": "out_of_range",
    "string_pattern_mismatch": "invalid",
}

_DETAILS: Final = {
    "missing": "Required.",
    "extra_forbidden": "This key is not known here.",
    "string_unicode": "This text holds a lone surrogate, which is no Unicode character.",
    "model_type": "Must be an object.",
    "model_attributes_type": "Must be an object.",
    "dict_type": "Must be an object.",
    "list_type": "This must be an array.",
    "string_type": "This must be a string.",
    "bool_type": "This must be true or false.",
}


_LONGEST_DETAIL: Final = 300


@dataclass(frozen=True)
class InputError:
    """One broken rule.

    Attributes:
        pointer: where: a JSON pointer (RFC 6901) into the body, ``?name`` for a query parameter, or
            the name of a header.
        code: which rule, for programs: ``required``, ``too_long``, ``unknown_key`` and so on.
        detail: what is wrong, one sentence for people.
    """

    pointer: str
    code: str
    detail: str


def json_pointer(*path: str | int) -> str:
    """The JSON pointer (RFC 6901) of a path of keys and indexes; the whole document is ``""``."""
    return "".join("/" + _printable(str(p)).replace("~", "~0").replace("/", "~1") for p in path)


def errors_of(error: ValidationError, *prefix: str | int) -> list[InputError]:
    """The faults that pydantic found, in its order, each pointer led by ``prefix``."""
    return [
        InputError(
            pointer=json_pointer(*prefix, *_path(found["loc"])),
            code=_code(found["type"], found.get("ctx", {})),
            detail=_detail(found["type"], found["msg"], found.get("ctx", {})),
        )
        for found in error.errors(include_url=False, include_input=False)
    ]


def _path(location: Sequence[str | int]) -> Sequence[str | int]:
    # Pydantic marks a fault in a mapping's key by a last "[key]"; a pointer names the key itself.
    return location[:-1] if location and location[-1] == "[key]" else location


def _code(kind: str, context: dict[str, Any]) -> str:
    if kind == "string_too_short" and context.get("min_length") == 1:
        return "required"
    return _CODES.get(kind, kind if kind in _OWN_CODES else "invalid")


def _detail(kind: str, message: str, context: dict[str, Any]) -> str:
    if kind in ("too_long", "too_short"):
        most, least = context.get("max_length"), context.get("min_length")
        return f"At most {most} of these." if most is not None else f"At least {least} of these."
    return _DETAILS.get(kind) or _sentence(message)


def _sentence(message: str) -> str:
    if len(message) > _LONGEST_DETAIL:  # a list of every allowed value, which the docs hold
        return "This is none of the allowed values."
    return message if message.endswith(".") else f"{message}."


def _printable(key: str) -> str:
    return key.encode("utf-8", "replace").decode("utf-8")


# Codes raised by the domain's own validators, through PydanticCustomError.
_OWN_CODES: Final = frozenset(
    {
        "invalid_email",
        "invalid_uuid",
        "invalid_timestamp",
        "invalid_colour",
        "invalid_url",
        "unknown_reference",
        "cycle",
        "duplicate",
        "required",
        "too_large",
        "wrong_type",
        "not_unicode",
        "not_allowed",
        "not_whole",
        "out_of_range",
        "empty",
    }
)
