"""Respond to the AWS requests of this process. Nothing else replaces botocore's method."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch

from botocore.client import BaseClient

_TRANSACTION_ACTIONS: Final = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
NOT_COUNTED: Final = frozenset(
    "DeleteMessageBatch GetParameter GetQueueUrl GetSecretValue ReceiveMessage".split()
)
"""Operations that only tests, or the first invocation of a process, send."""


@dataclass(frozen=True)
class Request:
    """A request of a botocore client. The next function, or botocore, responds to it."""

    client: BaseClient
    operation: str
    arguments: dict[str, Any]
    respond: Callable[[BaseClient, str, dict[str, Any]], Any]

    @property
    def service(self) -> str:
        """The name of the service: ``dynamodb``."""
        return str(self.client.meta.service_model.service_name)

    def send(self, **changed: Any) -> Any:
        """Return the response to this request, with other values of some arguments."""
        return self.respond(self.client, self.operation, {**self.arguments, **changed})

    def table_actions(self) -> Iterator[tuple[str, str]]:
        """Yield the tables of the request, each with the IAM action on it."""
        if "RequestItems" in self.arguments:
            for table in self.arguments["RequestItems"]:
                yield table, self.operation
        elif "TransactItems" in self.arguments:
            for item in self.arguments["TransactItems"]:
                ((kind, write),) = item.items()
                yield write["TableName"], _TRANSACTION_ACTIONS[kind]
        elif "TableName" in self.arguments:
            yield self.arguments["TableName"], self.operation


@contextmanager
def responding(respond: Callable[[Request], Any]) -> Iterator[None]:
    """Let a function respond to each AWS request of the ``with`` block, or send the request."""
    earlier: Callable[..., Any] = BaseClient._make_api_call  # type: ignore[attr-defined]

    def make_api_call(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        return respond(Request(client, operation, arguments, earlier))

    with patch.object(BaseClient, "_make_api_call", make_api_call):
        yield
