"""Make moto's responses fast.

For each request, moto inspects its classes, tries all aliases, and computes the time for each
message of a queue through several dates. Moto reads the region of a signature, and does not check
the signature.
"""

import time
from functools import cache
from typing import Any, Final

import pytest
from botocore.auth import SigV4Auth
from moto.core import responses
from moto.core.serialize import AttributePicker

_TYPES: Final = frozenset({"S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"})


def read_values_directly(patch: pytest.MonkeyPatch) -> None:
    """Patch moto to cache the methods of its classes, to read DynamoDB values by their type, and to
    read the time directly. Patch botocore to send the region without a signature.
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
    patch.setattr(SigV4Auth, "add_auth", _add_region)


def _add_region(auth: Any, request: Any) -> None:
    scope = f"testing/20260101/{auth._region_name}/{auth._service_name}/aws4_request"
    request.headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={scope}"
