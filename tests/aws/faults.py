"""Inject AWS faults into a request that a test selects by its index."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from botocore.exceptions import ReadTimeoutError

from tests.aws.requests import NOT_COUNTED, Request, responding
from tests.aws.tables import cancelled, error


class InjectedFault(StrEnum):
    """The ways in which an AWS request can fail."""

    ACCESS_DENIED = "access denied"
    THROTTLED = "throttled"
    CONFLICT = "conflict"
    TIMEOUT = "timeout"
    TIMEOUT_AFTER_PROCESSING = "timeout after processing"
    PARTIAL_SUCCESS = "partial success"
    KILLED_BEFORE = "killed before request"
    KILLED_AFTER = "killed after request"


class Killed(BaseException):
    """The process was killed.

    The class derives from `BaseException`, so that the service does not catch the exception.
    """


@dataclass
class Requests:
    """The operations of the recorded AWS requests, in order."""

    operations: list[str]


@contextmanager
def inject_fault(
    number: int | None = None, fault: InjectedFault | None = None
) -> Iterator[Requests]:
    """Record the AWS requests of the ``with`` block, and make the request with this index fail."""
    recorded = Requests([])

    def respond(request: Request) -> Any:
        if request.operation in NOT_COUNTED:
            return request.send()
        index = len(recorded.operations)
        recorded.operations.append(request.operation)
        return fail(request, fault) if index == number and fault else request.send()

    with responding(respond):
        yield recorded


@contextmanager
def failing(
    failure: Exception, times: int = 1, operation: str | None = None, after: int = 0
) -> Iterator[list[dict[str, Any]]]:
    """Make requests of the ``with`` block fail, and yield the list of all their arguments.

    Args:
        operation: the operation of the requests. By default, all requests count.
        after: the number of requests that succeed before.
    """
    sent: list[dict[str, Any]] = []
    reasons = getattr(failure, "response", {}).get("CancellationReasons")

    def respond(request: Request) -> Any:
        if operation in (None, request.operation):
            sent.append(request.arguments)
            if after < len(sent) <= after + times:
                writes = request.arguments.get("TransactItems")
                assert reasons is None or len(reasons) == len(writes or ()), writes
                raise failure
        return request.send()

    with responding(respond):
        yield sent


@contextmanager
def before_request(
    selected: int | str,
    action: Callable[[], object],
    *,
    loses_response: bool = False,
) -> Iterator[Requests]:
    """Record the AWS requests of the ``with`` block. Run the action before one of these requests.

    The action simulates another process. The requests of the action are not recorded, and can use
    permissions that the block does not have.

    Args:
        selected: the index of the request, or its operation. An operation selects the first
            request of this operation.
        loses_response: run the action after the request instead, and lose the response of the
            request.
    """
    recorded = Requests([])
    has_acted = is_acting = False

    def respond(request: Request) -> Any:
        nonlocal has_acted, is_acting
        if is_acting or request.operation in NOT_COUNTED:
            return request.send()
        if not has_acted and selected in (request.operation, len(recorded.operations)):
            has_acted = is_acting = True
            if loses_response:
                request.send()
            Context().run(action)
            is_acting = False
            if loses_response:
                recorded.operations.append(request.operation)
                raise ReadTimeoutError(endpoint_url="x")
        recorded.operations.append(request.operation)
        return request.send()

    with responding(respond):
        yield recorded


@contextmanager
def repeating(operation: str) -> Iterator[Requests]:
    """Send the first request of this operation twice, as botocore does if a response is lost.

    The block gets the second response, and the operations of the requests that were sent twice.
    """
    repeated = Requests([])

    def respond(request: Request) -> Any:
        if request.operation == operation and not repeated.operations:
            repeated.operations.append(operation)
            request.send()
        return request.send()

    with responding(respond):
        yield repeated


def fail(request: Request, fault: InjectedFault) -> Any:
    """Let the request fail. Send the request if the fault does not concern its operation."""
    operation = request.operation
    if fault in (InjectedFault.KILLED_AFTER, InjectedFault.TIMEOUT_AFTER_PROCESSING):
        request.send()
    match fault:
        case InjectedFault.KILLED_BEFORE | InjectedFault.KILLED_AFTER:
            raise Killed
        case InjectedFault.TIMEOUT | InjectedFault.TIMEOUT_AFTER_PROCESSING:
            raise ReadTimeoutError(endpoint_url="x")
        case InjectedFault.THROTTLED:
            raise error(operation, "ThrottlingException")
        case InjectedFault.ACCESS_DENIED:
            raise error(operation, "AccessDeniedException")
        case InjectedFault.CONFLICT if operation == "TransactWriteItems":
            others = ["None"] * (len(request.arguments["TransactItems"]) - 1)
            raise cancelled(*others, "TransactionConflict")
        case InjectedFault.CONFLICT if operation in ("DeleteItem", "PutItem", "UpdateItem"):
            raise error(operation, "TransactionConflictException")
        case InjectedFault.PARTIAL_SUCCESS if operation in _PARTIAL_OPERATIONS:
            return _PARTIAL_OPERATIONS[operation](request)
    return request.send()


def _partial_batch_write(request: Request) -> Any:
    ((table, writes),) = request.arguments["RequestItems"].items()
    half = (len(writes) + 1) // 2
    response = request.send(RequestItems={table: writes[:half]})
    response["UnprocessedItems"] = {table: writes[half:]} if writes[half:] else {}
    return response


def _partial_batch_get(request: Request) -> Any:
    reads, unread = {}, {}
    for table, read in request.arguments["RequestItems"].items():
        keys = read["Keys"]
        half = len(keys) // 2
        unread[table] = {**read, "Keys": keys[half:]}
        if half:
            reads[table] = {**read, "Keys": keys[:half]}
    response: Any = request.send(RequestItems=reads) if reads else {"Responses": {}}
    response["UnprocessedKeys"] = unread
    return response


def _partial_message_batch(request: Request) -> Any:
    entries = request.arguments["Entries"]
    half = (len(entries) + 1) // 2
    response = request.send(Entries=entries[:half])
    response["Failed"] = [
        {"Id": entry["Id"], "Code": "InternalError", "SenderFault": False}
        for entry in entries[half:]
    ]
    return response


_PARTIAL_OPERATIONS: dict[str, Callable[[Request], Any]] = {
    "BatchWriteItem": _partial_batch_write,
    "BatchGetItem": _partial_batch_get,
    "SendMessageBatch": _partial_message_batch,
}
