"""Encode and decode queue messages.

The body of a message is a pointer to a record: a JSON object with camelCase property names.
"""

import json
from dataclasses import fields
from functools import cache
from typing import Any, ClassVar, Final, Protocol, TypeVar

from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

# The conversion takes longer than the rest of the encoding.
_property: Final = cache(to_camel)


class Pointer(Protocol):
    """A frozen dataclass that identifies one record and its account."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def account_id(self) -> str:
        """The account that owns the record."""


PointerT = TypeVar("PointerT", bound=Pointer)


def encode(pointer: Pointer) -> str:
    """Return the message body for this pointer."""
    return json.dumps({_property(name): value for name, value in vars(pointer).items()})


def decode(pointer_type: type[PointerT], body: str) -> PointerT:
    """Return the pointer that this message body contains.

    Raises:
        ValueError: the body is not a JSON object, or a field is missing, empty or of the wrong
            type.
    """
    try:
        parsed = json.loads(body)
        values = {field.name: parsed[_property(field.name)] for field in fields(pointer_type)}
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"Invalid message: {type(error).__name__}.") from error
    if "" in values.values():
        raise ValueError("Invalid message: empty field.")
    pointer: PointerT = _adapter(pointer_type).validate_python(values)
    return pointer


@cache
def _adapter(pointer_type: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(pointer_type)
