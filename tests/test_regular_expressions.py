"""Test that every regular expression of the service and the command line takes linear time."""

import ast
import re
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).parent.parent
_LENGTH = 10_000
_MAX_CPU_S = 0.1
"""A linear search takes a few milliseconds, a quadratic one at least half a second."""
_METHODS = {"fullmatch", "match", "search", "findall", "finditer", "split", "sub"}

Use = tuple[str, re.Pattern[Any], str]
"""Where a regular expression is, the expression, and the method that uses it."""


def _uses() -> Iterator[Use]:
    for path in sorted(
        each for name in ("chalicelib", "admin") for each in (_ROOT / name).rglob("*.py")
    ):
        tree = ast.parse(path.read_text())
        module = ".".join(path.relative_to(_ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                    args=[ast.Constant(value=pattern), *_],
                ) if method in _METHODS:
                    yield f"{module}:{node.lineno}", re.compile(pattern), method
                case ast.Attribute(value=ast.Name(id=name), attr=method) if method in _METHODS:
                    expression = getattr(import_module(module), name, None)
                    if isinstance(expression, re.Pattern):
                        yield f"{module}.{name}", expression, method


def _hostile_texts(pattern: str) -> Iterator[str]:
    """Yield repetitions of each character and each word of the pattern, and of a few others."""
    words = {*pattern, *" \t\na0", *re.findall(r"[\w<>/:]{2,}", pattern)}
    for word in sorted(words):
        yield from (word * (_LENGTH // len(word)) + end for end in ("", "\0"))


def _cpu_s(expression: re.Pattern[Any], method: str, text: str | bytes) -> float:
    start = time.process_time()
    match method:
        case "sub":
            expression.sub(text[:0], text)
        case "finditer":
            list(expression.finditer(text))
        case _:
            getattr(expression, method)(text)
    return time.process_time() - start


@pytest.mark.parametrize(
    ("expression", "method"),
    [pytest.param(*use[1:], id=f"{use[0]}.{use[2]}") for use in dict.fromkeys(_uses())],
)
def test_regular_expression_takes_linear_time(expression: re.Pattern[Any], method: str) -> None:
    is_binary = isinstance(expression.pattern, bytes)
    pattern = expression.pattern.decode() if is_binary else expression.pattern
    for text in _hostile_texts(pattern):
        hostile = text.encode() if is_binary else text
        durations = (_cpu_s(expression, method, hostile) for _ in range(3))
        assert any(duration < _MAX_CPU_S for duration in durations), text[:20]
