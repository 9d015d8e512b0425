"""Test that the Lambda package contains only modules that the deployed functions run."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]

NOT_REACHABLE_YET: Final = ("chalicelib.services.feedback.find",)
"""Use cases that only operators have today, and that the API for partners will also need."""


def deployed_modules() -> dict[str, Path]:
    """Return the files of `chalicelib` by the names of their modules."""
    files = (ROOT / "chalicelib").rglob("*.py")
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in files
    }


MODULES: Final = deployed_modules()


def imported_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that code imports, including imports in functions.

    A name can denote a module or an attribute of a module. Imports that only type checkers see do
    not count.
    """
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.module
        assert not node.level
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for statement in node.orelse:
            yield from imported_names(statement)
    else:
        for child in ast.iter_child_nodes(node):
            yield from imported_names(child)


def reachable_modules(*sources: str) -> set[str]:
    """Return the modules of `chalicelib` that these texts of modules import, also indirectly."""
    reached: set[str] = set()
    unread = [*sources]
    while unread:
        for name in imported_names(ast.parse(unread.pop())):
            parts = name.split(".")
            # Importing a module also imports its packages.
            packages = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
            new = packages & MODULES.keys() - reached
            unread += [MODULES[module].read_text() for module in new]
            reached |= new
    return reached


def test_every_deployed_module_is_reachable() -> None:
    exceptions = [f"import {module}" for module in NOT_REACHABLE_YET]
    reached = reachable_modules((ROOT / "app.py").read_text(), *exceptions)
    assert sorted(MODULES.keys() - reached) == []


def test_exceptions_are_not_reachable_from_app() -> None:
    reached = reachable_modules((ROOT / "app.py").read_text())
    assert sorted(reached & {*NOT_REACHABLE_YET}) == []


@pytest.mark.parametrize(
    "source",
    [
        "import chalicelib.domain.ids",
        "from chalicelib.domain import ids",
        "from chalicelib.domain.ids import new_id",
        "def view():\n    from chalicelib.domain.ids import new_id",
        "if TYPE_CHECKING:\n    pass\nelse:\n    from chalicelib.domain import ids",
    ],
)
def test_import_makes_module_reachable(source: str) -> None:
    reached = reachable_modules(source)
    assert {"chalicelib", "chalicelib.domain", "chalicelib.domain.ids"} <= reached


@pytest.mark.parametrize(
    "source",
    ["import os", "if TYPE_CHECKING:\n    from chalicelib.domain import ids"],
)
def test_other_code_makes_no_module_reachable(source: str) -> None:
    assert reachable_modules(source) == set()
