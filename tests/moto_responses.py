"""Make requests to moto fast.

Without these patches, moto inspects its classes for each request, tries all aliases and all types
for each value, and converts the names of a queue's attributes and computes several dates for each
message. Moto does not check signatures, so botocore sends only the region.
"""

import time
from collections.abc import Callable
from datetime import datetime
from email.utils import format_datetime
from functools import cache
from typing import Any, Final

import pytest
from botocore.auth import SigV4Auth
from botocore.client import BaseClient
from moto.core import responses
from moto.core.serialize import AttributePicker
from moto.core.utils import camelcase_to_underscores
from moto.dynamodb.models.dynamo_type import DynamoType, LimitedSizeDict
from moto.dynamodb.models.utilities import dynamo_to_dict

from chalicelib.domain import clock

_TYPES: Final = frozenset({"S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"})


def make_responses_fast(patch: pytest.MonkeyPatch) -> None:
    """Patch moto and botocore for tests that use moto."""
    real = AttributePicker.__call__

    def pick(picker: AttributePicker, context: Any) -> Any:
        value = context.obj
        if type(value) is dict and context.key in _TYPES and value.keys() <= _TYPES:
            return value.get(context.key)
        return real(picker, context)

    patch.setattr(AttributePicker, "__call__", pick)
    patch.setattr(responses, "method_names_from_class", cache(responses.method_names_from_class))
    patch.setattr("moto.dynamodb.responses.dynamo_to_dict", _plain)
    patch.setattr("moto.sqs.models.camelcase_to_underscores", cache(camelcase_to_underscores))
    patch.setattr("moto.sqs.models.unix_time_millis", lambda: time.time() * 1000)
    patch.setattr(SigV4Auth, "add_auth", _add_region)
    patch.setattr(BaseClient, "_make_api_call", _with_date(BaseClient._make_api_call))  # type: ignore[attr-defined]


def _with_date(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, with the time of the test's clock as the date of each response."""

    def call(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        response = real(client, operation, arguments)
        headers = response["ResponseMetadata"]["HTTPHeaders"]
        headers["date"] = _formatted(clock.now().replace(microsecond=0))
        return response

    return call


@cache
def _formatted(second: datetime) -> str:
    return format_datetime(second, usegmt=True)


def _plain(value: Any) -> Any:
    """Do the same as moto's function, but examine the common types first."""
    kind = type(value)
    if kind is str:
        return value
    if kind is DynamoType and value.type not in ("B", "BS"):
        return {value.type: _plain(value.value)}
    if kind in (dict, LimitedSizeDict):
        return {name: _plain(member) for name, member in value.items()}
    if kind is list:
        return [_plain(member) for member in value]
    return dynamo_to_dict(value)


def _add_region(auth: Any, request: Any) -> None:
    scope = f"testing/20260101/{auth._region_name}/{auth._service_name}/aws4_request"
    request.headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={scope}"
