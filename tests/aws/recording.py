"""Record requests to the tables in memory, and repeat them with any DynamoDB.

Requests have the same form if they differ only in values: in keys, rows and placeholders. The first
two requests of each form are recorded, except very long ones.
"""

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import ClientError

from tests.aws.tables import Tables, template

Rows = dict[str, list[Any]]
Case = tuple[str, Mapping[str, Any], Rows]
"""The operation and the arguments of a request, and the rows by table that it is about."""
Respond = Callable[[str, Any], Any]

_SAME: Final = 2
"""The number of recorded requests of a form: the rows differ, and so do the responses."""
_MAX_LENGTH: Final = 20_000
_VALUES: Final = frozenset({"Key", "Keys", "Item", "ExclusiveStartKey", "ClientRequestToken"})
_TYPES: Final = frozenset({"S", "N", "B", "SS", "BOOL", "NULL", "M", "L"})
_NOT_COMPARED: Final = frozenset({"ResponseMetadata", "ConsumedCapacity", "Message", "message"})

_ORDERED: Final = frozenset({"CancellationReasons", "L", "Queried"})

_recorded: Final[dict[str, list[Case]]] = {}


def record(tables: Tables, operation: str, request: Mapping[str, Any]) -> None:
    """Remember a request and the rows that it is about, unless enough of its form are known."""
    cases = _recorded.setdefault(json.dumps([operation, _form(request)], sort_keys=True), [])
    if len(cases) < _SAME:
        rows = _rows(tables, request)
        if len(repr((request, rows))) <= _MAX_LENGTH:
            cases.append((operation, request, rows))


def save(folder: Path, name: str) -> None:
    """Write the recorded requests to a file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(repr(_recorded))


def load(folder: Path) -> list[Case]:
    """Return the requests of all files in a folder, those of one process for each form."""
    recorded: dict[str, list[Case]] = {}
    for path in folder.iterdir():
        recorded |= ast.literal_eval(path.read_text())
    return [case for cases in recorded.values() for case in cases]


def repeat(case: Case, respond: Respond) -> Any:
    """Repeat a request with the rows of its case. Return everything that AWS defines."""
    operation, request, before = case
    # Each repetition has another token. Otherwise, it would have no effect.
    request = {name: request[name] for name in request.keys() - {"ClientRequestToken"}}
    for table, rows in before.items():
        for row in rows:
            respond("PutItem", {"TableName": table, "Item": row})
    try:
        outcome: Any = respond(operation, request)
    except ClientError as failure:
        outcome = {**failure.response, "Error": failure.response["Error"]["Code"]}
    except Exception as failure:  # a defect of moto
        outcome = {"Error": repr(failure)}
    after = {table: respond("Scan", {"TableName": table})["Items"] for table in before}
    for table, rows in after.items():
        for row in rows:
            key = {name: row[name] for name in _key_names(table)}
            respond("DeleteItem", {"TableName": table, "Key": key})
    if operation == "Query" and "Items" in outcome:
        outcome["Queried"] = outcome.pop("Items")
    return _comparable({**outcome, "Rows": after})


def _comparable(value: Any, name: str = "") -> Any:
    """Return the value without texts, empty members, and the order of sets, batches and scans."""
    if isinstance(value, dict):
        names = sorted(value.keys() - _NOT_COMPARED)
        members = {name: _comparable(value[name], name) for name in names}
        return {name: each for name, each in members.items() if each not in ({}, [], None)}
    if isinstance(value, (list, tuple)):
        members = [_comparable(member) for member in value]
        return members if name in _ORDERED else sorted(members, key=str)
    return value


def _form(value: Any) -> Any:
    """Return a part of a request without its values."""
    if isinstance(value, list):
        return sorted({json.dumps(_form(member), sort_keys=True) for member in value})
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and value.keys() <= _TYPES:
        return next(iter(value))
    return {name: name in _VALUES or _form(member) for name, member in value.items()}


def _rows(tables: Tables, request: Mapping[str, Any]) -> Rows:
    """Return the rows that a request is about: with its keys, or with a value of the query."""
    found: Rows = {}
    for table, key in _keys(request):
        rows = found.setdefault(table, [])
        rows += [row for row in [tables.find(table, key)] if row]
    if not found:
        values = list(request.get("ExpressionAttributeValues", {}).values())
        rows = tables.rows(request["TableName"].removeprefix("feedback-test-")).values()
        about = [row for row in rows if not values or any(v in values for v in row.values())]
        found[request["TableName"]] = about
    return found


def _keys(request: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for table, parts in request.get("RequestItems", {}).items():
        writes = [next(iter(part.values())) for part in parts] if isinstance(parts, list) else []
        keys = [write.get("Key") or write["Item"] for write in writes] or parts["Keys"]
        yield from ((table, key) for key in keys)
    for write in [request, *(next(iter(w.values())) for w in request.get("TransactItems", ()))]:
        if "Key" in write or "Item" in write:
            yield write["TableName"], write.get("Key") or write["Item"]


def _key_names(table: str) -> list[str]:
    properties = template("test").by_name("AWS::DynamoDB::Table", "TableName")[table]
    return [key["AttributeName"] for key in properties["KeySchema"]]
