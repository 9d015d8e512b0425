"""Test that the Lambda package contains only modules that the deployed functions run."""

import ast
from pathlib import Path
from typing import Final

import grimp

APP: Final = Path(__file__).parents[2] / "app.py"


def test_every_deployed_module_is_reachable() -> None:
    # The graph contains imports in functions.
    graph = grimp.build_graph("chalicelib", exclude_type_checking_imports=True, cache_dir=None)
    nodes = list(ast.walk(ast.parse(APP.read_text())))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    names = {f"{node.module}.{alias.name}" for node in imports for alias in node.names}
    # The queue functions import their modules by name.
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    names |= {f"chalicelib.{text}" for text in texts if isinstance(text, str)}
    imported = (names | {str(node.module) for node in imports}) & graph.modules
    reached = imported.union(*(graph.find_upstream_modules(module) for module in imported))
    # Importing a module also imports its packages.
    parts = [module.split(".") for module in reached]
    packages = {".".join(part[:length]) for part in parts for length in range(1, len(part))}
    assert sorted(graph.modules - reached - packages) == []
