"""Inject AWS faults into a request that a test selects by its index."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError, ReadTimeoutError


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


_NOT_RECORDED = frozenset({"GetQueueUrl", "GetSecretValue", "ReceiveMessage", "DeleteMessageBatch"})
"""Operations that are not recorded: only tests, or the first call in a process, send them."""


@dataclass
class Requests:
    """The operations of the recorded AWS requests, in order."""

    operations: list[str]


@contextmanager
def inject_fault(
    patch: pytest.MonkeyPatch, number: int | None = None, fault: InjectedFault | None = None
) -> Iterator[Requests]:
    """Record the AWS requests of the ``with`` block, and make the request with this index fail."""
    real: Callable[..., Any] = BaseClient._make_api_call  # type: ignore[attr-defined]
    recorded = Requests([])

    def request(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        if operation in _NOT_RECORDED:
            return real(client, operation, arguments)
        index = len(recorded.operations)
        recorded.operations.append(operation)
        if index != number or fault is None:
            return real(client, operation, arguments)
        return _fail(fault, operation, arguments, lambda sent: real(client, operation, sent))

    with patch.context() as scope:
        scope.setattr(BaseClient, "_make_api_call", request)
        yield recorded


@contextmanager
def before_request(
    patch: pytest.MonkeyPatch,
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
    real: Callable[..., Any] = BaseClient._make_api_call  # type: ignore[attr-defined]
    recorded = Requests([])
    has_acted = is_acting = False

    def request(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        nonlocal has_acted, is_acting
        if is_acting or operation in _NOT_RECORDED:
            return real(client, operation, arguments)
        if not has_acted and selected in (operation, len(recorded.operations)):
            has_acted = is_acting = True
            if loses_response:
                real(client, operation, arguments)
            Context().run(action)
            is_acting = False
            if loses_response:
                recorded.operations.append(operation)
                raise ReadTimeoutError(endpoint_url="x")
        recorded.operations.append(operation)
        return real(client, operation, arguments)

    with patch.context() as scope:
        scope.setattr(BaseClient, "_make_api_call", request)
        yield recorded


def _fail(
    fault: InjectedFault,
    operation: str,
    arguments: dict[str, Any],
    send: Callable[[dict[str, Any]], Any],
) -> Any:
    if fault is InjectedFault.KILLED_BEFORE:
        raise Killed
    if fault is InjectedFault.KILLED_AFTER:
        send(arguments)
        raise Killed
    if fault is InjectedFault.TIMEOUT:
        raise ReadTimeoutError(endpoint_url="x")
    if fault is InjectedFault.TIMEOUT_AFTER_PROCESSING:
        send(arguments)
        raise ReadTimeoutError(endpoint_url="x")
    if fault is InjectedFault.THROTTLED:
        raise _error(operation, "ThrottlingException")
    if fault is InjectedFault.ACCESS_DENIED:
        raise _error(operation, "AccessDeniedException")
    if fault is InjectedFault.CONFLICT and operation == "TransactWriteItems":
        reasons = [{"Code": "None"}, {"Code": "TransactionConflict"}]
        raise _error(operation, "TransactionCanceledException", CancellationReasons=reasons)
    if fault is InjectedFault.CONFLICT and operation in ("DeleteItem", "PutItem", "UpdateItem"):
        raise _error(operation, "TransactionConflictException")
    if fault is InjectedFault.PARTIAL_SUCCESS and operation in _PARTIAL_OPERATIONS:
        return _PARTIAL_OPERATIONS[operation](arguments, send)
    return send(arguments)


def _error(operation: str, code: str, **fields: Any) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}, **fields}, operation)  # type: ignore[typeddict-item]


def _partial_batch_write(arguments: dict[str, Any], send: Callable[..., Any]) -> Any:
    ((table, writes),) = arguments["RequestItems"].items()
    half = (len(writes) + 1) // 2
    response = send({**arguments, "RequestItems": {table: writes[:half]}})
    response["UnprocessedItems"] = {table: writes[half:]} if writes[half:] else {}
    return response


def _partial_batch_get(arguments: dict[str, Any], send: Callable[..., Any]) -> Any:
    request_items = copy.deepcopy(arguments["RequestItems"])
    unprocessed = {}
    for table, request in list(request_items.items()):
        half = len(request["Keys"]) // 2
        keys = request["Keys"]
        unprocessed[table] = {**request, "Keys": keys[half:]}
        request["Keys"] = keys[:half]
        if not half:
            del request_items[table]
    response: Any = {"Responses": {}}
    if request_items:
        response = send({**arguments, "RequestItems": request_items})
    response["UnprocessedKeys"] = unprocessed
    return response


def _partial_message_batch(arguments: dict[str, Any], send: Callable[..., Any]) -> Any:
    entries = arguments["Entries"]
    half = (len(entries) + 1) // 2
    response = send({**arguments, "Entries": entries[:half]})
    response["Failed"] = [
        {"Id": entry["Id"], "Code": "InternalError", "SenderFault": False}
        for entry in entries[half:]
    ]
    return response


_PARTIAL_OPERATIONS: dict[str, Callable[..., Any]] = {
    "BatchWriteItem": _partial_batch_write,
    "BatchGetItem": _partial_batch_get,
    "SendMessageBatch": _partial_message_batch,
}
