"""Inject DynamoDB faults at configurable rates. The emulator itself never causes these faults."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from infrastructure.local_cloud.strict.limits import Handler, Response, error_response

Key = tuple[str, str]
Item = Mapping[str, Any]

_UNPROCESSED: Final = {"BatchGetItem": "UnprocessedKeys", "BatchWriteItem": "UnprocessedItems"}
_TRANSACTIONS: Final = frozenset({"TransactGetItems", "TransactWriteItems"})
_SINGLE_WRITES: Final = frozenset({"PutItem", "UpdateItem", "DeleteItem"})
_OPERATIONS: Final = frozenset(
    {"GetItem", "Query", "Scan", *_SINGLE_WRITES, *_TRANSACTIONS, *_UNPROCESSED}
)
_THROTTLED: Final = "Throughput exceeds the current capacity of your table or index."
_CONFLICT: Final = "Transaction is ongoing for the item"


_Rate = Annotated[float, Field(ge=0, le=1, strict=True)]
_Delay = Annotated[float, Field(ge=0, le=60, strict=True)]


class FaultRates(BaseModel, frozen=True, extra="forbid"):
    """The share of operations with each fault, from 0 to 1, and the duration of delays.

    Attributes:
        throttling: rejected operations, and batches with unprocessed items.
        conflicts: writes and transactions that conflict with another transaction.
        index_lag: writes after which the indexes return the previous state of the item for
            ``index_lag_s`` seconds.
        slow: operations that are executed, but whose response is delayed by ``slow_s`` seconds.
    """

    throttling: _Rate = 0
    conflicts: _Rate = 0
    index_lag: _Rate = 0
    slow: _Rate = 0
    index_lag_s: _Delay = 2
    slow_s: _Delay = 1


class Faults:
    """Select the operations that fail and build their responses.

    Attributes:
        rates: the current rates; all are 0 at the start.
        injected: number of injected faults by kind.
    """

    def __init__(self, generator: random.Random) -> None:
        self.rates = FaultRates()
        self.injected: Counter[str] = Counter()
        self._random = generator

    def occurs(self, kind: str) -> bool:
        """Return whether the fault occurs now, and count it."""
        occurs = self._random.random() < float(getattr(self.rates, kind))
        self.injected[kind] += occurs
        return occurs

    def error(self, operation: str, request: Mapping[str, Any]) -> Response | None:
        """Return the response to send instead of executing the operation, or None."""
        if operation not in _OPERATIONS:
            return None
        can_conflict = operation in _TRANSACTIONS or operation in _SINGLE_WRITES
        if can_conflict and self.occurs("conflicts"):
            if operation in _TRANSACTIONS:
                return self._cancellation(request, "TransactionConflict", _CONFLICT)
            return error_response("TransactionConflictException", _CONFLICT)
        has_partial_response = operation in _UNPROCESSED and _count(request) > 1
        if not has_partial_response and self.occurs("throttling"):
            if operation in _TRANSACTIONS:
                return self._cancellation(request, "ThrottlingError", _THROTTLED)
            return error_response("ProvisionedThroughputExceededException", _THROTTLED)
        return None

    def split(
        self, operation: str, request: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Split a throttled batch into the request to execute and the unprocessed items.

        Return None if the operation is not a throttled batch of at least two items.
        """
        if operation not in _UNPROCESSED or _count(request) < 2 or not self.occurs("throttling"):
            return None
        executed: dict[str, Any] = {}
        unprocessed: dict[str, Any] = {}
        remaining = _count(request) // 2
        for table, part in request["RequestItems"].items():
            items = _items_of(part)
            for target, selected in (
                (executed, items[:remaining]),
                (unprocessed, items[remaining:]),
            ):
                if selected:
                    target[table] = (
                        part | {"Keys": selected} if isinstance(part, dict) else selected
                    )
            remaining = max(0, remaining - len(items))
        return {**request, "RequestItems": executed}, unprocessed

    def _cancellation(self, request: Mapping[str, Any], code: str, message: str) -> Response:
        reasons: list[dict[str, str]] = [{"Code": "None"} for _ in request["TransactItems"]]
        reasons[self._random.randrange(len(reasons))] = {"Code": code, "Message": message}
        codes = ", ".join(reason["Code"] for reason in reasons)
        return error_response(
            "TransactionCanceledException",
            f"Transaction cancelled, please refer cancellation reasons for specific reasons"
            f" [{codes}]",
            CancellationReasons=reasons,
        )


def with_faults(handle: Handler, faults: Faults) -> Handler:
    """Return a handler of requests to DynamoDB that injects faults.

    The emulator verifies the signature of a request first, so the handler can change the request.
    """

    async def handle_request(method: str, path: str, headers: Any, body: bytes, query: Any) -> Any:
        operation = headers.get("x-amz-target", "").rpartition(".")[2]
        request = json.loads(body) if operation in _OPERATIONS else {}
        if error := faults.error(operation, request):
            return error
        parts = faults.split(operation, request)
        if parts:
            body = json.dumps(parts[0]).encode()
        delay_s = faults.rates.slow_s if faults.occurs("slow") else 0
        response = await handle(method, path, headers, body, query)
        await asyncio.sleep(delay_s)
        return _with_unprocessed(response, operation, parts[1]) if parts else response

    return handle_request


def _with_unprocessed(response: Response, operation: str, unprocessed: dict[str, Any]) -> Response:
    status, headers, body = response
    if status != 200:
        return response
    content, name = json.loads(body), _UNPROCESSED[operation]
    for table, part in content.get(name, {}).items():
        withheld = unprocessed.setdefault(table, part)
        if withheld is not part:
            _items_of(withheld).extend(_items_of(part))
    return status, headers, json.dumps(content | {name: unprocessed}).encode()


class IndexLag:
    """The items whose previous state the indexes still return."""

    def __init__(self, faults: Faults, now: Callable[[], float] = time.monotonic) -> None:
        self._faults = faults
        self._now = now
        self._items: dict[str, dict[Key, tuple[float, Item | None]]] = {}

    def record_write(self, table: str, key: Key, previous: Item | None) -> None:
        """Record a write and decide whether the indexes lag.

        Lagging indexes return ``previous`` for a while. If ``previous`` is None, the item did not
        exist.
        """
        if key not in self.previous_items(table) and self._faults.occurs("index_lag"):
            until = self._now() + self._faults.rates.index_lag_s
            self._items[table][key] = (until, previous)

    def previous_items(self, table: str) -> dict[Key, Item | None]:
        """Return the previous state of each item of a table whose change lags, by key."""
        now = self._now()
        lagging = {key: item for key, item in self._items.get(table, {}).items() if item[0] > now}
        self._items[table] = lagging
        return {key: previous for key, (_, previous) in lagging.items()}


def _items_of(part: Any) -> list[Any]:
    """Return the keys or writes of one table of a batch."""
    items: list[Any] = part["Keys"] if isinstance(part, dict) else part
    return items


def _count(request: Mapping[str, Any]) -> int:
    return sum(len(_items_of(part)) for part in request.get("RequestItems", {}).values())
