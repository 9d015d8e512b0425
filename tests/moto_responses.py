"""Make moto's responses fast. Moto inspects its classes and tries all aliases for each request."""

from functools import cache
from typing import Any, Final

import pytest
from moto.core import responses
from moto.core.serialize import AttributePicker

_TYPES: Final = frozenset({"S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"})


def read_values_directly(patch: pytest.MonkeyPatch) -> None:
    """Patch moto to cache the methods of its classes, and to read DynamoDB values by their type."""
    real = AttributePicker.__call__

    def pick(picker: AttributePicker, context: Any) -> Any:
        value = context.obj
        if type(value) is dict and context.key in _TYPES and value.keys() <= _TYPES:
            return value.get(context.key)
        return real(picker, context)

    patch.setattr(AttributePicker, "__call__", pick)
    patch.setattr(responses, "method_names_from_class", cache(responses.method_names_from_class))
