"""Let a test run a Lambda function with only the AWS permissions of the function's policy."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from infrastructure.functions import FUNCTIONS
from tests.aws.requests import Request

_FUNCTIONS: Final = {function.name: function for function in FUNCTIONS}


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


def check_request(request: Request) -> Any:
    """Respond to a request, after checking it in an `allowed` block against the policy."""
    function = _function.get()
    if function:
        _require(function, request)
    return request.send()


def _require(function: str, request: Request) -> None:
    permissions = _FUNCTIONS[function]
    if request.service in ("secretsmanager", "ssm"):
        if not permissions.reads_stage_values:
            raise NotAllowed(f"{function}: {request.operation}")
        return
    rights = permissions.queues if request.service == "sqs" else permissions.tables
    for resource, action in _required_permissions(request):
        if action not in rights.get(resource, ()):
            raise NotAllowed(f"{function}: {action} on {resource}")


def _required_permissions(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the resource and the action of each permission that this request requires."""
    arguments, operation = request.arguments, request.operation
    if "QueueUrl" in arguments:
        yield _short(arguments["QueueUrl"].rsplit("/", 1)[-1]), operation.removesuffix("Batch")
    elif "QueueName" in arguments:
        yield _short(arguments["QueueName"]), operation
    index = f"/{arguments['IndexName']}" if "IndexName" in arguments else ""
    for table, action in request.table_actions():
        yield _short(table) + index, action


def _short(name: str) -> str:
    return name.removeprefix("feedback-test-")
