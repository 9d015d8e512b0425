"""Make moto's handling of expressions fast: let moto parse and validate each expression once.

Later updates with the same expression are computed by the interpreter of the benchmarks. The first
update is computed by both, and the results must be equal.
"""

from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import pytest
from moto.dynamodb import responses
from moto.dynamodb.comparisons import AttributeValue, ConditionExpressionParser, Func, Op, OpNot
from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.parsing.ast_nodes import ExpressionAttributeName, ExpressionAttributeValue
from moto.dynamodb.parsing.executors import UpdateExpressionExecutor
from moto.dynamodb.parsing.expressions import UpdateExpressionParser
from moto.dynamodb.parsing.key_condition_expression import parse_expression
from moto.dynamodb.parsing.validators import UpdateExpressionValidator

from benchmarks.expressions import updated
from tests.moto_tables import MAX_BYTES, attributes, with_attributes

_parse = ConditionExpressionParser.parse
_parse_update = UpdateExpressionParser.make
_validate = UpdateExpressionValidator.validate
_execute = UpdateExpressionExecutor.execute


class DifferentResult(BaseException):
    """The interpreter of the benchmarks changed a row in another way than moto.

    The class derives from `BaseException`, because moto catches every `Exception`.
    """


def parse_expressions_once(patch: pytest.MonkeyPatch) -> None:
    """Patch moto to cache the parsed form of expressions. It does not depend on their values."""
    patch.setattr(ConditionExpressionParser, "parse", _condition)
    patch.setattr(responses, "parse_expression", _key_conditions)
    patch.setattr(UpdateExpressionParser, "make", _parsed_update)
    patch.setattr(UpdateExpressionValidator, "validate", _validate_once)
    patch.setattr(UpdateExpressionExecutor, "execute", _execute_once)


def _condition(parser: ConditionExpressionParser) -> Any:
    if not parser.condition_expression:
        return _parse(parser)
    values = parser.expression_attribute_values or {}
    condition, names_found, values_found = _parsed_condition(
        parser.condition_expression,
        frozenset((parser.expression_attribute_names or {}).items()),
        frozenset(values),
    )
    parser.expr_attr_names_found += names_found
    parser.expr_attr_values_found += values_found
    return _with_values(condition, values)


@cache
def _parsed_condition(
    expression: str, names: frozenset[tuple[str, str]], values: frozenset[str]
) -> tuple[Any, list[str], list[str]]:
    """Parse a condition. Each value in the parsed form has its placeholder as its type."""
    parser = ConditionExpressionParser(
        expression, dict(names), {name: {name: ""} for name in values}
    )
    return _parse(parser), parser.expr_attr_names_found, parser.expr_attr_values_found


def _with_values(node: Any, values: dict[str, Any]) -> Any:
    """Return a copy of a parsed condition with these values."""
    if isinstance(node, AttributeValue):
        return AttributeValue(values[node.type])
    if isinstance(node, Func):
        return type(node)(*(_with_values(argument, values) for argument in node.arguments))
    if isinstance(node, OpNot):
        return OpNot(_with_values(node.lhs, values))
    if isinstance(node, Op):
        return type(node)(_with_values(node.lhs, values), _with_values(node.rhs, values))
    return node


def _key_conditions(
    key_condition_expression: str,
    expression_attribute_values: dict[str, Any],
    expression_attribute_names: dict[str, str],
    schema: list[dict[str, str]],
) -> Any:
    """Do the same as `parse_expression`. Moto checks whether the values are empty."""
    values = expression_attribute_values
    if {"S": ""} in values.values():
        return parse_expression(
            key_condition_expression, values, expression_attribute_names, schema
        )
    hash_keys, range_keys, names_found = _parsed_key_conditions(
        key_condition_expression,
        frozenset(values),
        frozenset(expression_attribute_names.items()),
        tuple((key["AttributeName"], key["KeyType"]) for key in schema),
    )
    return (
        [(name, values[value["name"]]) for name, value in hash_keys],
        [
            (name, comparison, [values[value["name"]] for value in compared])
            for name, comparison, compared in range_keys
        ],
        list(names_found),
    )


@cache
def _parsed_key_conditions(
    expression: str,
    values: frozenset[str],
    names: frozenset[tuple[str, str]],
    schema: tuple[tuple[str, str], ...],
) -> Any:
    placeholders: Any = {name: {"name": name} for name in values}
    keys = [{"AttributeName": name, "KeyType": kind} for name, kind in schema]
    return parse_expression(expression, placeholders, dict(names), keys)


class _Update:
    """An update expression in the form in which moto has parsed it."""

    def __init__(self, expression: str) -> None:
        self.expression, self.tree = expression, _parse_update(expression)
        kinds = (ExpressionAttributeName, ExpressionAttributeValue)
        self._found = {kind: self.tree.find_clauses([kind]) for kind in kinds}

    def find_clauses(self, kinds: list[type]) -> list[Any]:
        return self._found[kinds[0]]

    def __deepcopy__(self, memo: Any) -> "_Update":
        return self


_parsed_update: Final = cache(_Update)
_validated: Final[set[Any]] = set()
"""The expressions, tables and types of values for which both results were equal."""


@dataclass(frozen=True)
class _Change:
    """A valid update of a row.

    Attributes:
        tree: moto's form of the update, or None if the interpreter has computed the result.
        result: the attributes after the update; None if the interpreter does not know the syntax.
    """

    tree: Any
    result: Any
    key: Any

    def normalize(self) -> None:
        if self.tree:
            self.tree.normalize()


def _validate_once(validator: UpdateExpressionValidator) -> _Change:
    update: Any = validator.node_to_validate
    names = validator.expression_attribute_names or {}
    values = validator.expression_attribute_values or {}
    types = frozenset((name, next(iter(value))) for name, value in values.items())
    key = (validator.table.name, update.expression, frozenset(names.items()), types)
    result = _interpreted(validator.item, update.expression, names, values)
    # Whether an empty string is valid depends on its attribute.
    if result is not None and key in _validated and {"S": ""} not in values.values():
        return _Change(None, result, key)
    validator.node_to_validate = deepcopy(update.tree)
    return _Change(_validate(validator), result, key)


def _interpreted(
    row: Item, expression: str, names: dict[str, str], values: dict[str, Any]
) -> LimitedSizeDict | None:
    """Return the attributes after an update. None if the interpreter does not know the syntax."""
    before = {name: {value.type: value.value} for name, value in row.attrs.items()}
    request = {
        "UpdateExpression": expression,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }
    try:
        after = {
            name: row.attrs[name] if value is before.get(name) else DynamoType(value)
            for name, value in updated(before, request).items()
        }
    except Exception:
        return None
    return attributes(after)


def _execute_once(executor: UpdateExpressionExecutor, node: Any = None) -> None:
    change = executor.update_ast
    if not isinstance(change, _Change):
        _execute(executor, node)
        return
    row = executor.item
    if change.tree:
        # Copies of the row share its attributes.
        row.attrs = attributes(deepcopy(dict(row.attrs)))
        executor.update_ast = change.tree
        _execute(executor)
        if change.result is not None:
            if row.attrs != change.result:
                raise DifferentResult(change.key, row.attrs, change.result)
            _validated.add(change.key)
        return
    if with_attributes(row, change.result).size() > MAX_BYTES:
        raise ItemSizeTooLarge
    row.attrs = change.result
