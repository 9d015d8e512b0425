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


def parse_expressions_once(patch: pytest.MonkeyPatch) -> None:
    """Patch moto to cache the parsed form of expressions. It does not depend on their values."""
    patch.setattr(UpdateExpressionParser, "make", cache(UpdateExpressionParser.make))
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


def _traverse(traverser: DepthFirstTraverser, root: Any) -> Any:
    """Do the same as moto's method, but ask only once which types of nodes to process."""
    kinds = traverser.nodes_to_be_processed()

    def traversed(node: Any, child_id: int = -1) -> Any:
        if not _is_node(node):
            return node
        parent = node.parent
        for index, child in enumerate(node.children or ()):
            traverser.pre_processing_of_child(node, index)
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
