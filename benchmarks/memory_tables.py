"""An emulation of DynamoDB in memory: the tables of the template `infrastructure/data.yaml`.

The emulation supports the requests that this service sends. Each request is atomic, and applies
conditions as DynamoDB does. Two transactions never run at the same time, so a transaction that
conflicts with another one fails because of its condition, not with ``TransactionConflict``. Reads
of indexes are strongly consistent. Pages have no maximum size.
"""

import operator
import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from benchmarks.expressions import Item, Scope, holds, updated

Request = Mapping[str, Any]
Key = tuple[str, ...]

_HASH_CONDITION: Final = re.compile(r"(#\w+) = (:\w+)")
_FAILED: Final = "ConditionalCheckFailed"


class RequestFailed(Exception):
    """DynamoDB rejects the request. The argument is the body of the response."""


class _Index:
    """The rows of a table or of an index by partition key."""

    def __init__(self, properties: Mapping[str, Any], table_keys: list[str]) -> None:
        self.keys = [key["AttributeName"] for key in properties["KeySchema"]]
        self.partitions: defaultdict[str, dict[Key, Item]] = defaultdict(dict)
        projection = properties.get("Projection", {"ProjectionType": "ALL"})
        self._projected = None
        if projection["ProjectionType"] != "ALL":
            others = projection.get("NonKeyAttributes", ())
            self._projected = {*self.keys, *table_keys, *others}

    def remove(self, key: Key, item: Item) -> None:
        if all(name in item for name in self.keys):
            del self.partitions[item[self.keys[0]]["S"]][key]

    def add(self, key: Key, item: Item) -> None:
        if all(name in item for name in self.keys):
            self.partitions[item[self.keys[0]]["S"]][key] = self._entry(item)

    def _entry(self, item: Item) -> Item:
        if self._projected is None:
            return item
        return {name: value for name, value in item.items() if name in self._projected}


class _Table:
    def __init__(self, properties: Mapping[str, Any]) -> None:
        self.keys = [key["AttributeName"] for key in properties["KeySchema"]]
        self.items: dict[Key, Item] = {}
        self.indexes = {
            index.get("IndexName"): _Index(index, self.keys)
            for index in (properties, *properties.get("GlobalSecondaryIndexes", ()))
        }

    def key_of(self, item: Request) -> Key:
        return tuple(str(value) for name in self.keys for value in item[name].values())

    def replace(self, key: Key, item: Item | None) -> None:
        """Store a row, or delete the row if ``item`` is None."""
        before = self.items.pop(key, None)
        for index in self.indexes.values():
            if before is not None:
                index.remove(key, before)
            if item is not None:
                index.add(key, item)
        if item is not None:
            self.items[key] = item


class MemoryTables:
    """The tables of a stage. The method names are those of DynamoDB's operations."""

    def __init__(self, stage: str) -> None:
        # Clients of the tables import this module, and do not need the template.
        from infrastructure.doctor.template import ResolvedTemplate

        tables = ResolvedTemplate(stage).by_name("AWS::DynamoDB::Table", "TableName")
        self._tables = {name: _Table(properties) for name, properties in tables.items()}

    def GetItem(self, request: Request) -> Any:  # noqa: N802
        table = self._tables[request["TableName"]]
        item = table.items.get(table.key_of(request["Key"]))
        return {"Item": item} if item else {}

    def BatchGetItem(self, request: Request) -> Any:  # noqa: N802
        responses = {}
        for name, read in request["RequestItems"].items():
            table = self._tables[name]
            found = (table.items.get(table.key_of(key)) for key in read["Keys"])
            responses[name] = [item for item in found if item]
        return {"Responses": responses, "UnprocessedKeys": {}}

    def PutItem(self, request: Request) -> Any:  # noqa: N802
        self._write_one("Put", request)
        return {}

    def UpdateItem(self, request: Request) -> Any:  # noqa: N802
        return {"Attributes": self._write_one("Update", request)}

    def DeleteItem(self, request: Request) -> Any:  # noqa: N802
        self._write_one("Delete", request)
        return {}

    def TransactWriteItems(self, request: Request) -> Any:  # noqa: N802
        writes = [next(iter(write.items())) for write in request["TransactItems"]]
        failed = [not self._is_allowed(write) for _, write in writes]
        if any(failed):
            reasons = [{"Code": _FAILED if is_failed else "None"} for is_failed in failed]
            raise RequestFailed(
                {"__type": "TransactionCanceledException", "CancellationReasons": reasons}
            )
        for kind, write in writes:
            self._write(kind, write)
        return {}

    def BatchWriteItem(self, request: Request) -> Any:  # noqa: N802
        for name, writes in request["RequestItems"].items():
            for kind, write in (next(iter(write.items())) for write in writes):
                self._write(kind.removesuffix("Request"), {"TableName": name, **write})
        return {"UnprocessedItems": {}}

    def Query(self, request: Request) -> Any:  # noqa: N802
        table = self._tables[request["TableName"]]
        index = table.indexes[request.get("IndexName")]
        condition = request["KeyConditionExpression"]
        (hash_value,) = (
            request["ExpressionAttributeValues"][value]["S"]
            for name, value in _HASH_CONDITION.findall(condition)
            if request["ExpressionAttributeNames"][name] == index.keys[0]
        )

        def order(item: Item) -> list[Any]:
            return [_order(item[name]) for name in (*index.keys[1:], *table.keys)]

        is_forward, start = request.get("ScanIndexForward", True), request.get("ExclusiveStartKey")
        items = sorted(index.partitions[hash_value].values(), key=order, reverse=not is_forward)
        if start:
            after = operator.gt if is_forward else operator.lt
            items = [item for item in items if after(order(item), order(start))]
        matching = (item for item in items if holds(condition, Scope(item, request)))
        scanned = list(islice(matching, request.get("Limit")))
        found = [i for i in scanned if holds(request.get("FilterExpression"), Scope(i, request))]
        page = {"Items": found, "Count": len(found), "ScannedCount": len(scanned)}
        if scanned and len(scanned) == request.get("Limit"):
            page["LastEvaluatedKey"] = {
                name: scanned[-1][name] for name in (*index.keys, *table.keys)
            }
        return page

    def _write_one(self, kind: str, write: Request) -> Item | None:
        if not self._is_allowed(write):
            raise RequestFailed({"__type": f"{_FAILED}Exception"})
        return self._write(kind, write)

    def _is_allowed(self, write: Request) -> bool:
        table = self._tables[write["TableName"]]
        stored = table.items.get(table.key_of(write.get("Key") or write["Item"]), {})
        return holds(write.get("ConditionExpression"), Scope(stored, write))

    def _write(self, kind: str, write: Request) -> Item | None:
        table = self._tables[write["TableName"]]
        if kind == "ConditionCheck":
            return None
        key = table.key_of(write.get("Key") or write["Item"])
        item: Item | None = write.get("Item")
        if kind == "Update":
            item = updated(table.items.get(key) or dict(write["Key"]), write)
        table.replace(key, item)
        return item


def _order(value: Mapping[str, str]) -> Any:
    ((kind, content),) = value.items()
    return int(content) if kind == "N" else content
