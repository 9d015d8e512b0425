"""Let a test run a Lambda function with only the AWS permissions of the function's policy."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import pytest
from botocore.client import BaseClient

from infrastructure.functions import FUNCTIONS

_FUNCTIONS: Final = {function.name: function for function in FUNCTIONS}
_TRANSACTION_ACTIONS: Final = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}


class NotAllowed(BaseException):
    """The function's policy lacks a permission.

    The class derives from `BaseException`, because workers catch every `Exception`.
    """


_function: ContextVar[str | None] = ContextVar("function", default=None)


@contextmanager
def allowed(function: str) -> Iterator[None]:
    """Raise `NotAllowed` if the ``with`` block sends a request that the policy denies."""
    token = _function.set(function)
    try:
        yield
    finally:
        _function.reset(token)


def check_requests(patch: pytest.MonkeyPatch) -> None:
    """Patch botocore to check every AWS request in an `allowed` block against the policy."""
    real = BaseClient._make_api_call  # type: ignore[attr-defined]

    def request(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        function = _function.get()
        if function:
            _require(function, client, operation, arguments)
        return real(client, operation, arguments)

    patch.setattr(BaseClient, "_make_api_call", request)


def _require(function: str, client: BaseClient, operation: str, arguments: dict[str, Any]) -> None:
    permissions = _FUNCTIONS[function]
    service = client.meta.service_model.service_name
    if service in ("secretsmanager", "ssm"):
        if not permissions.reads_stage_values:
            raise NotAllowed(f"{function}: {operation}")
        return
    rights = permissions.queues if service == "sqs" else permissions.tables
    for resource, action in _required_permissions(operation, arguments):
        if action not in rights.get(resource, ()):
            raise NotAllowed(f"{function}: {action} on {resource}")


def _required_permissions(operation: str, arguments: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the resource and the action of each permission that this request requires."""
    if "QueueUrl" in arguments:
        yield _short(arguments["QueueUrl"].rsplit("/", 1)[-1]), operation.removesuffix("Batch")
    elif "QueueName" in arguments:
        yield _short(arguments["QueueName"]), operation
    elif "RequestItems" in arguments:
        for table in arguments["RequestItems"]:
            yield _short(table), operation
    elif "TransactItems" in arguments:
        for item in arguments["TransactItems"]:
            ((kind, write),) = item.items()
            yield _short(write["TableName"]), _TRANSACTION_ACTIONS[kind]
    else:
        index = f"/{arguments['IndexName']}" if "IndexName" in arguments else ""
        yield _short(arguments["TableName"]) + index, operation


def _short(name: str) -> str:
    return name.removeprefix("feedback-test-")
