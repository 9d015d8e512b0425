"""Call moto's operations of DynamoDB and SQS directly, without HTTP.

Botocore and moto spend most of a request's time on serializing the request and the response twice.
A request that moto rejects, and every other operation, still takes the way over HTTP.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest
from botocore import xform_name
from botocore.client import BaseClient
from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.responses import DynamoHandler
from moto.sqs.responses import SQSResponse

from chalicelib import aws_calls

_HANDLERS: Final = {
    "BatchGetItem": DynamoHandler,
    "BatchWriteItem": DynamoHandler,
    "DeleteItem": DynamoHandler,
    "GetItem": DynamoHandler,
    "PutItem": DynamoHandler,
    "Query": DynamoHandler,
    "Scan": DynamoHandler,
    "TransactWriteItems": DynamoHandler,
    "UpdateItem": DynamoHandler,
    "SendMessageBatch": SQSResponse,
}
_OBSERVED: Final = "provide-client-params.dynamodb.Query"


def call_moto_directly(patch: pytest.MonkeyPatch) -> None:
    """Patch botocore: the clients of the service call moto directly. Clients of tests do not."""
    real: Callable[..., Any] = BaseClient._make_api_call  # type: ignore[attr-defined]

    def call(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        is_own = client.meta.config.user_agent == aws_calls._USER_AGENT
        if not is_own or operation not in _HANDLERS or _is_observed(client):
            return real(client, operation, arguments)
        service = client.meta.service_model
        model = service.operation_model(operation)
        unknown = arguments.keys() - model.input_shape.members.keys()
        assert not unknown, f"{operation} has no parameters {unknown}"
        handler: Any = _HANDLERS[operation]()
        handler.current_account, handler.region = DEFAULT_ACCOUNT_ID, client.meta.region_name
        handler.body = handler.params = _copied(arguments)
        handler.uri_match = {}
        try:
            result = getattr(handler, xform_name(operation))().result
        except Exception:
            # Nothing was written. Moto and botocore build the response.
            return real(client, operation, arguments)
        aws_calls._count(f"before-send.{service.service_name}.{operation}")
        metadata = {"HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0}
        return {**result, "ResponseMetadata": metadata}

    patch.setattr(BaseClient, "_make_api_call", call)


def _is_observed(client: BaseClient) -> bool:
    """Return whether a benchmark observes the requests of this client."""
    return bool(client.meta.events._emitter._handlers.prefix_search(_OBSERVED))


def _copied(value: Any) -> Any:
    """Copy objects and arrays, so that moto and the service do not share them."""
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(member) for member in value]
    return value
