"""Make moto's handling of expressions fast: parse each expression once, and copy trees directly."""

from collections import deque
from functools import cache
from typing import Any

import pytest
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.parsing.ast_nodes import (
    DepthFirstTraverser,
    Expression,
    Node,
    UpdateExpressionFunction,
)
from moto.dynamodb.parsing.expressions import UpdateExpressionParser
from moto.dynamodb.parsing.validators import (
    ActionCountValidator,
    OverlappingPathsValidator,
    UpdateExpressionValidator,
    UpdateHashRangeKeyValidator,
)


def parse_expressions_once(patch: pytest.MonkeyPatch) -> None:
    """Patch moto to cache the parsed form of expressions. It does not depend on their values."""
    parse = UpdateExpressionParser.make

    @cache
    def make(expression: str) -> Any:
        tree = parse(expression)
        tree.expression = expression
        return tree

    patch.setattr(UpdateExpressionParser, "make", make)
    patch.setattr(UpdateExpressionValidator, "validate", _validate)
    patch.setattr(Node, "__deepcopy__", lambda node, memo: _copied(node), raising=False)
    patch.setattr(Node, "find_clauses", _clauses)
    patch.setattr(DepthFirstTraverser, "traverse", _traverse)
    split = ConditionExpressionParser._lex_condition_expression

    @cache
    def tokens(expression: str) -> tuple[Any, ...]:
        return tuple(split(ConditionExpressionParser(expression, {}, {})))

    patch.setattr(
        ConditionExpressionParser,
        "_lex_condition_expression",
        lambda parser: deque(tokens(parser.condition_expression)),
    )


def _copied(node: Any) -> Any:
    """Copy a tree of a parsed expression. Its leaves are texts and numbers."""
    copied = object.__new__(type(node))
    copied.__dict__.update(node.__dict__)
    if node.children is not None:
        copied.children = [_copied(c) if _is_node(c) else c for c in node.children]
        for child in copied.children:
            if _is_node(child):
                child.parent = copied
    return copied


def _validate(validator: UpdateExpressionValidator) -> Any:
    """Do the same as moto's method, but check only once what does not depend on values."""
    node = validator.node_to_validate
    names = frozenset((validator.expression_attribute_names or {}).items())
    checked = (validator.table.name, node.expression, names)
    for processor in validator.processors:
        if checked not in _checked or not isinstance(processor, _INDEPENDENT_OF_VALUES):
            node = processor.traverse(node)
    _checked.add(checked)
    return node


_INDEPENDENT_OF_VALUES = (
    ActionCountValidator,
    OverlappingPathsValidator,
    UpdateHashRangeKeyValidator,
)
_checked: set[tuple[str, str, frozenset[tuple[str, str]]]] = set()


def _traverse(traverser: DepthFirstTraverser, root: Any) -> Any:
    """Do the same as moto's method, but ask only once which types of nodes to process."""
    kinds = traverser.nodes_to_be_processed()
    preprocess = type(traverser).pre_processing_of_child
    has_preprocessing = preprocess is not DepthFirstTraverser.pre_processing_of_child

    def traversed(node: Any, child_id: int = -1) -> Any:
        parent = node.parent
        for index, child in enumerate(node.children or ()):
            if has_preprocessing:
                traverser.pre_processing_of_child(node, index)
            if _is_kind(type(child), Node):
                traversed(child, index)
        if _is_kind(type(node), kinds):
            node = traverser.process(node)
            node.parent = parent
            if parent:
                parent.children[child_id] = node
        return node

    return traversed(root)


def _clauses(node: Any, types: list[type]) -> list[Any]:
    """Do the same as moto's method."""
    clauses = []
    for child in node.children or ():
        if type(child) in types:
            clauses.append(child)
        elif _is_kind(type(child), _SEARCHED):
            clauses += _clauses(child, types)
    return clauses


def _is_node(value: object) -> bool:
    return _is_kind(type(value), Node)


# Moto's types of nodes are abstract base classes, whose `isinstance` is slow.
_is_kind = cache(issubclass)
_SEARCHED = (Expression, UpdateExpressionFunction)
