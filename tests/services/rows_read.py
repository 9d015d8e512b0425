"""Count the rows that AWS requests read from DynamoDB."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.client import BaseClient

from chalicelib.domain.ids import new_id
from chalicelib.domain.work import shards_of_account


@dataclass
class RowsRead:
    """The number of rows and index entries that were read, including those that a filter omits."""

    total: int = 0


@contextmanager
def counted_rows(patch: pytest.MonkeyPatch) -> Iterator[RowsRead]:
    """Count the rows that the requests of the ``with`` block read."""
    real: Callable[..., Any] = BaseClient._make_api_call  # type: ignore[attr-defined]
    read = RowsRead()

    def request(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        response = real(client, operation, arguments)
        if operation in ("Query", "Scan"):
            # moto's ScannedCount is the size of the table.
            read.total += real(client, operation, _without_filter(arguments))["Count"]
        if operation == "BatchGetItem":
            read.total += sum(map(len, response["Responses"].values()))
        return response

    with patch.context() as scope:
        scope.setattr(BaseClient, "_make_api_call", request)
        yield read


def _without_filter(arguments: dict[str, Any]) -> dict[str, Any]:
    omitted = ("FilterExpression", "ProjectionExpression")
    request = {name: value for name, value in arguments.items() if name not in omitted}
    condition = request.get("KeyConditionExpression", "")
    for names in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        known = request.pop(names, {})
        if used := {name: value for name, value in known.items() if name in condition}:
            request[names] = used
    return request


def account_with_same_shards(account_id: str) -> str:
    """Return the id of another account whose work is in the same shards."""
    while True:
        other = new_id()
        if shards_of_account(other) == shards_of_account(account_id):
            return other
