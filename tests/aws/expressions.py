"""Parse, validate and evaluate the expressions of DynamoDB.

The parsed form is a tree: an attribute or a placeholder is a string, and everything else is a tuple
of an operator and its operands. Names are attributes (``#name`` or ``name``) without paths into
maps and lists, which the service does not store.
"""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Context, Decimal, DecimalException, Inexact, Overflow, Subnormal
from functools import cache
from typing import Any, Final

Item = dict[str, Any]
"""A row in DynamoDB's format: ``{"id": {"S": "a"}, "total": {"N": "1"}}``."""
Tree = Any

_TOKEN: Final = re.compile(r"\s*([#:]?\w+|<>|<=|>=|[=<>(),+])")
_FUNCTIONS: Final = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "begins_with": 2,
    "if_not_exists": 2,
}
"""The functions, each with the number of its arguments. The first one is an attribute."""
_PREDICATES: Final = ("attribute_exists", "attribute_not_exists", "begins_with")
_ACTIONS: Final = ("SET", "REMOVE", "ADD")
_ATTRIBUTE: Final = r"#?\w+"
_VALUE: Final = r":\w+"
_OPERAND: Final = rf"{_ATTRIBUTE}|{_VALUE}"
_SETS: Final = ("SS", "NS", "BS")
_MAX_EXPRESSION_BYTES: Final = 4096
_MAX_LISTED: Final = 100
_NUMBERS: Final = Context(38, Emin=-130, Emax=125, traps=[Inexact, Overflow, Subnormal])
"""The numbers of DynamoDB: 38 significant digits, from 1E-130 to 9.99E+125."""
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_TYPES: Final = frozenset({"S", "N", "B", "M", "L", "NULL", "BOOL", *_SETS})


class InvalidRequest(Exception):
    """DynamoDB rejects the request with a `ValidationException`."""


def require(is_valid: object, message: str) -> None:
    """Raise `InvalidRequest` with the message if the request is not valid."""
    if not is_valid:
        raise InvalidRequest(message)


class _Parser:
    def __init__(self, expression: str) -> None:
        self._tokens, end = list[str](), 0
        expression = expression.rstrip()
        while end < len(expression):
            match = _TOKEN.match(expression, end)
            if not match:
                raise InvalidRequest(f"Syntax error at {expression[end:]!r}.")
            self._tokens.append(match[1])
            end = match.end()
        self._tokens.append("")

    @property
    def is_at_end(self) -> bool:
        return self._tokens[0] == ""

    def takes(self, *wanted: str) -> str:
        """Return the next token and move on if it is one of these. Otherwise return ''."""
        token = self._tokens[0].upper()
        return self._tokens.pop(0).upper() if token and token in wanted else ""

    def take(self, *wanted: str) -> str:
        if token := self.takes(*wanted):
            return token
        raise InvalidRequest(f"Syntax error: {self._tokens[0]!r} instead of {' or '.join(wanted)}.")

    def condition(self) -> Tree:
        tree = self._conjunction()
        while self.takes("OR"):
            tree = ("OR", tree, self._conjunction())
        return tree

    def _conjunction(self) -> Tree:
        tree = self._negation()
        while self.takes("AND"):
            tree = ("AND", tree, self._negation())
        return tree

    def _negation(self) -> Tree:
        if self.takes("NOT"):
            return ("NOT", self._negation())
        if self.takes("("):
            tree = self.condition()
            self.take(")")
            return tree
        left = self._operand(*_PREDICATES)
        if left[0] in _PREDICATES:
            return left
        comparison = self.take(*_COMPARISONS, "BETWEEN", "IN")
        if comparison == "IN":
            listed = self._operands()
            require(len(listed) <= _MAX_LISTED, f"IN has {len(listed)} operands.")
            return ("IN", left, *listed)
        right = self._operand()
        if comparison == "BETWEEN":
            self.take("AND")
            return ("BETWEEN", left, right, self._operand())
        return (comparison, left, right)

    def actions(self) -> Iterator[tuple[str, str, Tree]]:
        """Yield the actions of an update, each with its verb, its attribute and its value."""
        unused = list(_ACTIONS)
        while not self.is_at_end:
            verb = self.take(*unused)
            unused.remove(verb)
            yield self._action(verb)
            while self.takes(","):
                yield self._action(verb)

    def _action(self, verb: str) -> tuple[str, str, Tree]:
        name = self._name(_ATTRIBUTE)
        if verb == "REMOVE":
            return (verb, name, None)
        if verb == "ADD":
            return (verb, name, self._name(_VALUE))
        self.take("=")
        value = self._operand("if_not_exists")
        if self.takes("+"):
            value = ("+", value, self._operand("if_not_exists"))
        return (verb, name, value)

    def names(self, pattern: str = _ATTRIBUTE) -> tuple[str, ...]:
        """Return the attributes of a projection."""
        found = [self._name(pattern)]
        while self.takes(","):
            found.append(self._name(pattern))
        return tuple(found)

    def _name(self, pattern: str) -> str:
        name = self._tokens.pop(0)
        require(re.fullmatch(pattern, name), f"Syntax error at {name!r}.")
        return name

    def _operand(self, *functions: str) -> Tree:
        """Return an attribute, a placeholder of a value, or a call of one of these functions."""
        name = self._name(_OPERAND)
        if self._tokens[0] != "(":
            return name
        require(name in functions, f"The function {name} is not allowed here.")
        arguments = self._operands()
        is_valid = len(arguments) == _FUNCTIONS[name] and arguments[0][0] != ":"
        require(is_valid, f"Invalid function {name} with the operands {arguments}.")
        return (name, *arguments)

    def _operands(self) -> tuple[str, ...]:
        self.take("(")
        operands = self.names(_OPERAND)
        self.take(")")
        return operands


def _parsed(expression: str, parse: Callable[[_Parser], Tree]) -> Tree:
    parser = _Parser(expression)
    tree = parse(parser)
    if not tree or not parser.is_at_end:
        raise InvalidRequest(f"Syntax error in {expression!r}.")
    return tree


@cache
def parse_condition(expression: str) -> Tree:
    """Parse a condition, a filter or the key condition of a query."""
    return _parsed(expression, _Parser.condition)


@cache
def parse_update(expression: str) -> tuple[tuple[str, str, Tree], ...]:
    """Parse an update. Return the verb, the attribute and the value of each action."""
    return _parsed(expression, lambda parser: tuple(parser.actions()))  # type: ignore[no-any-return]


@cache
def parse_names(expression: str) -> tuple[str, ...]:
    """Parse the attributes of a projection."""
    return _parsed(expression, _Parser.names)  # type: ignore[no-any-return]


_PARSERS: Final[dict[str, Callable[[str], Tree]]] = {
    "ConditionExpression": parse_condition,
    "FilterExpression": parse_condition,
    "KeyConditionExpression": parse_condition,
    "ProjectionExpression": parse_names,
    "UpdateExpression": parse_update,
}
PLACEHOLDERS: Final = ("ExpressionAttributeNames", "ExpressionAttributeValues")


def validate_expressions(request: Mapping[str, Any]) -> None:
    """Check all expressions, their values, and that they use all placeholders of the request."""
    expressions = [(kind, request[kind]) for kind in _PARSERS if request.get(kind) is not None]
    defined = [None if kind not in request else frozenset(request[kind]) for kind in PLACEHOLDERS]
    if expressions or any(each is not None for each in defined):
        bounds = _validate(tuple(expressions), *defined)
        scope = Scope({}, request)
        validate_values(request.get("ExpressionAttributeValues", {}))
        for low, high in bounds:
            require(_is_at_most(scope, low, high), "The lower bound exceeds the upper bound.")
        if projection := request.get("ProjectionExpression"):
            names = attributes_of(projection, scope)
            require(len(set(names)) == len(names), "An attribute occurs twice in the projection.")


@cache
def _validate(
    expressions: tuple[tuple[str, str], ...],
    names: frozenset[str] | None,
    values: frozenset[str] | None,
) -> list[tuple[str, str]]:
    """Return the bounds of all ranges whose two bounds are values of the request."""
    for kind, text in expressions:
        require(len(text.encode()) <= _MAX_EXPRESSION_BYTES, f"{kind} is longer than 4 KB.")
    trees = [_PARSERS[kind](text) for kind, text in expressions]
    used = {leaf for tree in trees for leaf in leaves(tree)}
    for kind, sign, defined in zip(PLACEHOLDERS, "#:", (names, values), strict=True):
        wanted = {leaf for leaf in used if leaf[0] == sign}
        require(defined is None or defined, f"{kind} must not be empty.")
        is_equal = wanted == (defined or set())
        require(is_equal, f"{kind} differs from {sorted(wanted)}: {sorted(defined or ())}.")
    if bare := {leaf for leaf in used if leaf[0] not in "#:"}:
        from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords

        reserved = set(ReservedKeywords.get_reserved_keywords())
        is_reserved = any(name.upper() in reserved for name in bare)
        require(not is_reserved, f"Reserved words among {sorted(bare)}.")
    return [bounds for tree in trees for bounds in _ranges(tree)]


def _ranges(tree: Tree) -> Iterator[tuple[str, str]]:
    if tree[0] == "BETWEEN" and tree[2][0] == tree[3][0] == ":":
        yield tree[2:]
    elif tree[0] in ("AND", "OR", "NOT"):
        for operand in tree[1:]:
            yield from _ranges(operand)


def validate_values(row: Mapping[str, Any]) -> None:
    """Check the values of a row, of a key or of placeholders."""
    for value in row.values():
        _validate_value(value)


def _validate_value(value: Mapping[str, Any]) -> None:
    require(len(value) == 1 and _TYPES.issuperset(value), "Invalid attribute value.")
    ((kind, content),) = value.items()
    if kind == "N":
        require(_NUMBER.fullmatch(content) and _is_exact(content), "Invalid number.")
    elif kind in _SETS:
        for member in content:
            _validate_value({kind[0]: member})
        is_set = 0 < len(content) == len({comparable({kind[0]: member}) for member in content})
        require(is_set, "A set is empty or contains duplicates.")
    elif kind in ("L", "M"):
        for member in content.values() if kind == "M" else content:
            _validate_value(member)


def _is_exact(digits: str) -> bool:
    """Return whether DynamoDB can represent the number."""
    try:
        _NUMBERS.create_decimal(digits)
    except DecimalException:
        return False
    return True


def leaves(tree: Tree) -> Iterator[str]:
    """Yield the attributes and placeholders of a parsed expression."""
    if isinstance(tree, str):
        yield tree
    elif tree and isinstance(tree[0], str) and (tree[0] in _OPERATORS):
        for operand in tree[1:]:
            yield from leaves(operand)
    elif tree:
        for part in tree:
            yield from leaves(part)


class Scope:
    """A row, and the names and values of the placeholders of a request."""

    def __init__(self, item: Mapping[str, Any], request: Mapping[str, Any]) -> None:
        self._item = item
        self._names = request.get("ExpressionAttributeNames", {})
        self._values = request.get("ExpressionAttributeValues", {})

    def attribute(self, name: str) -> str:
        """Return the attribute of a placeholder, or the name itself."""
        return str(self._names.get(name, name))

    def find(self, operand: Tree) -> Any:
        """Return the value of an operand, or None if the row does not have the attribute."""
        if isinstance(operand, tuple):
            return _VALUES[operand[0]](self, *operand[1:])
        if operand[0] == ":":
            return self._values[operand]
        return self._item.get(self._names.get(operand, operand))


def holds(expression: str | None, scope: Scope) -> bool:
    """Return whether the row satisfies a condition, or there is no condition."""
    return expression is None or evaluate(parse_condition(expression), scope)


def evaluate(tree: Tree, scope: Scope) -> bool:
    """Return whether the row satisfies a parsed condition."""
    return _CONDITIONS[tree[0]](scope, *tree[1:])


def _is_equal(scope: Scope, left: Tree, right: Tree) -> bool:
    first, second = scope.find(left), scope.find(right)
    return first is not None and second is not None and comparable(first) == comparable(second)


def _ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Scope, Tree, Tree], bool]:
    def is_ordered(scope: Scope, left: Tree, right: Tree) -> bool:
        first, second = scope.find(left), scope.find(right)
        if first is None or second is None:
            return False
        (kind, low), (other, high) = comparable(first), comparable(second)
        return kind == other and kind in ("S", "N", "B") and compare(low, high)

    return is_ordered


_is_at_most: Final = _ordering(operator.le)


def _begins_with(scope: Scope, name: Tree, prefix: Tree) -> bool:
    (kind, start), (stored, content) = comparable(scope.find(prefix)), _found(scope, name)
    return kind == stored and bool(content.startswith(start))


def _found(scope: Scope, name: Tree) -> tuple[str, Any]:
    value = scope.find(name)
    return ("", "") if value is None else comparable(value)


_COMPARISONS: Final[dict[str, Callable[[Scope, Tree, Tree], bool]]] = {
    "=": _is_equal,
    "<>": lambda scope, left, right: not _is_equal(scope, left, right),
    "<": _ordering(operator.lt),
    "<=": _is_at_most,
    ">": _ordering(operator.gt),
    ">=": _ordering(operator.ge),
}
_CONDITIONS: Final[dict[str, Callable[..., bool]]] = {
    "OR": lambda scope, left, right: evaluate(left, scope) or evaluate(right, scope),
    "AND": lambda scope, left, right: evaluate(left, scope) and evaluate(right, scope),
    "NOT": lambda scope, tree: not evaluate(tree, scope),
    **_COMPARISONS,
    "BETWEEN": lambda scope, value, low, high: (
        _is_at_most(scope, low, value) and _is_at_most(scope, value, high)
    ),
    "IN": lambda scope, value, *listed: any(_is_equal(scope, value, each) for each in listed),
    "attribute_exists": lambda scope, name: scope.find(name) is not None,
    "attribute_not_exists": lambda scope, name: scope.find(name) is None,
    "begins_with": _begins_with,
}


def updated(item: Item, request: Mapping[str, Any]) -> Item:
    """Return the row after the update expression of a request.

    Raises:
        InvalidRequest: an attribute does not exist or has another type.
    """
    scope, after = Scope(item, request), dict(item)
    for verb, name, tree in parse_update(request["UpdateExpression"]):
        attribute = scope.attribute(name)
        stored = item.get(attribute)
        value: Any = None if verb == "REMOVE" else scope.find(tree)
        if verb == "ADD":
            value = _added(stored, value)
        elif verb == "SET" and value is None:
            raise InvalidRequest("An operand is an attribute that does not exist.")
        if value is None:
            after.pop(attribute, None)
        else:
            after[attribute] = value
    return after


def _added(stored: Item | None, value: Item) -> Item:
    ((kind, content),) = value.items()
    if kind not in ("N", *_SETS) or (stored is not None and kind not in stored):
        raise InvalidRequest("ADD requires numbers, or sets of the same type.")
    if stored is None:
        return value
    if kind == "N":
        return _number(number(stored["N"]) + number(content))
    return {kind: sorted({*stored[kind], *content})}


def _sum(scope: Scope, left: Tree, right: Tree) -> Item:
    values = [scope.find(left), scope.find(right)]
    if not all(value and "N" in value for value in values):
        raise InvalidRequest("An operand is no number.")
    return _number(number(values[0]["N"]) + number(values[1]["N"]))


_VALUES: Final[dict[str, Callable[..., Any]]] = {
    "+": _sum,
    "if_not_exists": lambda scope, name, default: scope.find(name) or scope.find(default),
}
_OPERATORS: Final = frozenset({*_CONDITIONS, *_VALUES, *_ACTIONS})


def attributes_of(expression: str, scope: Scope) -> list[str]:
    """Return the attributes of a projection."""
    return [scope.attribute(name) for name in parse_names(expression)]


def conditions_of(tree: Tree) -> Iterable[Tree]:
    """Return the conditions that ``AND`` joins."""
    if tree[0] == "AND":
        return [*conditions_of(tree[1]), *conditions_of(tree[2])]
    return [tree]


def comparable(value: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the type of a value, and a value that Python compares as DynamoDB does."""
    ((kind, content),) = value.items()
    if kind == "N":
        return kind, number(content)
    return kind, frozenset(content) if kind in _SETS else content


def number(digits: str) -> Any:
    """Return the number as an integer if it is one."""
    try:
        return int(digits)
    except ValueError:
        return Decimal(digits)


def _number(value: Any) -> Item:
    return {"N": str(value)}
