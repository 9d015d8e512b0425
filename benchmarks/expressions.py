"""Evaluate the condition and update expressions of DynamoDB that this service sends.

An expression becomes a Python function, which is cached: a benchmark sends few different
expressions. Names and values must be placeholders (``#name``, ``:value``), except the names of the
attributes that an update changes.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

Item = dict[str, Any]
"""A row in DynamoDB's format: ``{"id": {"S": "a"}, "total": {"N": "1"}}``."""

_PLACEHOLDERS: Final = (r"(?<!')[#:]\w+", r"get('\g<0>')")
_CONDITION: Final = (
    (r"attribute_not_exists ?\((#\w+)\)", r"(not has('\1'))"),
    (r"attribute_exists ?\((#\w+)\)", r"has('\1')"),
    (r"(#\w+) BETWEEN (:\w+) AND (:\w+)", r"\2 <= \1 <= \3"),
    (r"\bIN \(([^)]*)\)", r"in (\1,)"),
    (r"<>", "!="),
    (r"(?<![<>!])=", "=="),
    (r"\b(AND|OR|NOT)\b", lambda match: match[0].lower()),
    _PLACEHOLDERS,
)
_VALUE: Final = ((r"if_not_exists ?\((#\w+),", r"if_not_exists('\1',"), _PLACEHOLDERS)
_ACTIONS: Final = re.compile(r"\b(SET|REMOVE|ADD)\b")
_BETWEEN_ACTIONS: Final = re.compile(r",(?![^(]*\))")


class _Missing:
    """The value of an attribute that does not exist. Every comparison is false, except ``!=``."""

    def __lt__(self, other: object) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__


_MISSING: Final = _Missing()


class Scope:
    """A row, and the names and values of the placeholders of a request."""

    def __init__(self, item: Mapping[str, Any], request: Mapping[str, Any]) -> None:
        self._item = item
        self._names = request.get("ExpressionAttributeNames", {})
        self._values = request.get("ExpressionAttributeValues", {})

    def attribute(self, name: str) -> str:
        """Return the attribute of a placeholder, or the name itself."""
        return str(self._names.get(name, name))

    def has(self, name: str) -> bool:
        """Return whether the row has the attribute of this placeholder."""
        return self._names[name] in self._item

    def get(self, name: str) -> Any:
        """Return the value of ``:value`` in the request, or of ``#name`` in the row."""
        if name.startswith(":"):
            return _decoded(self._values[name])
        stored = self._item.get(self._names[name])
        return _MISSING if stored is None else _decoded(stored)

    def if_not_exists(self, name: str, default: Any) -> Any:
        """Return the value of the row's attribute, or the default."""
        return self.get(name) if self.has(name) else default


def holds(expression: str | None, scope: Scope) -> bool:
    """Return whether the row satisfies a condition, or there is no condition."""
    if expression is None:
        return True
    return bool(_compiled(expression, _CONDITION)(scope.has, scope.get, str.startswith, None))


def updated(item: Item, request: Mapping[str, Any]) -> Item:
    """Return the row after the update expression of a request."""
    scope, after = Scope(item, request), dict(item)
    for verb, name, value in _actions(request["UpdateExpression"]):
        attribute = scope.attribute(name)
        if verb == "REMOVE":
            after.pop(attribute, None)
            continue
        result = _compiled(value, _VALUE)(scope.has, scope.get, None, scope.if_not_exists)
        if verb == "ADD" and attribute in item:
            result = _sum(_decoded(item[attribute]), result)
        after[attribute] = _encoded(result)
    return after


@cache
def _compiled(expression: str, rules: tuple[Any, ...]) -> Callable[..., Any]:
    for pattern, replacement in rules:
        expression = re.sub(pattern, replacement, expression)
    # The expressions come from this project.
    function: Callable[..., Any] = eval(  # noqa: S307
        f"lambda has, get, begins_with, if_not_exists: {expression}"
    )
    return function


@cache
def _actions(expression: str) -> list[tuple[str, str, str]]:
    """Return the verb, the name and the value of each action of an update expression."""
    parts = _ACTIONS.split(expression)
    actions = []
    for verb, clauses in zip(parts[1::2], parts[2::2], strict=True):
        for clause in _BETWEEN_ACTIONS.split(clauses):
            name, _, value = clause.strip().partition("=" if verb == "SET" else " ")
            actions.append((verb, name.strip(), value.strip()))
    return actions


def _sum(stored: Any, added: Any) -> Any:
    if isinstance(stored, dict):
        ((kind, members),) = stored.items()
        return {kind: sorted({*members, *added[kind]})}
    return stored + added


def _decoded(value: Mapping[str, Any]) -> Any:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return content
        case "N":
            return int(content)
    return value


def _encoded(value: Any) -> Any:
    match value:
        case str():
            return {"S": value}
        case int():
            return {"N": str(value)}
    return value
