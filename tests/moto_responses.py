"""Make moto's responses fast.

For each request, moto inspects its classes, tries all aliases, and computes the time for each
message of a queue through several dates.
"""

import time
from functools import cache
from typing import Any, Final

import pytest
from moto.core import responses
from moto.core.serialize import AttributePicker

_TYPES: Final = frozenset({"S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"})


def read_values_directly(patch: pytest.MonkeyPatch) -> None:
    """Patch moto to cache the methods of its classes, to read DynamoDB values by their type, and to
    read the time directly.
    """
    real = AttributePicker.__call__

    def pick(picker: AttributePicker, context: Any) -> Any:
        value = context.obj
        if type(value) is dict and context.key in _TYPES and value.keys() <= _TYPES:
            return value.get(context.key)
        return real(picker, context)

    patch.setattr(AttributePicker, "__call__", pick)
    patch.setattr(responses, "method_names_from_class", cache(responses.method_names_from_class))
    patch.setattr("moto.sqs.models.unix_time_millis", lambda: time.time() * 1000)
