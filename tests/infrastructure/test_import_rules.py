"""Test that each import rule detects a violation. `make check` applies the rules."""

from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import grimp
import pytest
from importlinter import api
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract
from importlinter.domain.contract import Contract

CONFIGURATION: Final = api.read_configuration(str(Path(__file__).parents[2] / "pyproject.toml"))
TYPES: Final = {
    "acyclic_siblings": AcyclicSiblingsContract,
    "forbidden": ForbiddenContract,
    "independence": IndependenceContract,
    "layers": LayersContract,
}
VIOLATIONS: Final = {
    "layers": ("chalicelib.outbound.queues", "chalicelib.web.query"),
    "features": ("chalicelib.domain.ids", "chalicelib.domain.forms.form"),
    "domain": ("admin.domain.forms.form", "chalicelib.storage.accounts"),
    "services": ("chalicelib.log", "pynamodb"),
    "storage-and-outbound": ("chalicelib.storage.accounts", "chalice"),
    "web": ("chalicelib.web.query", "chalicelib.storage.accounts"),
    "admin": ("admin.commands.work", "admin.storage.customer_ids"),
    "commands": ("admin.commands.work", "admin.commands.account"),
    "admin-and-web": ("admin.services.work.parked", "chalicelib.web.query"),
    "doctor": ("admin.commands.stage", "infrastructure.functions"),
    "shipped": ("chalicelib.services.caching", "infrastructure.permissions"),
    "app": ("admin.main", "app"),
    "tests": ("tests.aws.tables", "benchmarks"),
}
"""A forbidden import for each rule: the importing and the imported module."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Build the import graph of the project's modules."""
    root_packages = CONFIGURATION["session_options"]["root_packages"]
    return grimp.build_graph(*root_packages, include_external_packages=True, cache_dir=None)


def contract(options: dict[str, Any]) -> Contract:
    return TYPES[options["type"]](options["name"], CONFIGURATION["session_options"], options)


CONTRACTS: Final = {
    options["id"]: contract(options) for options in CONFIGURATION["contracts_options"]
}


@pytest.mark.parametrize("rule", CONTRACTS)
def test_import_rule_detects_violation(graph: grimp.ImportGraph, rule: str) -> None:
    importer, imported = VIOLATIONS[rule]
    changed_graph = deepcopy(graph)
    changed_graph.add_import(importer=importer, imported=imported)
    assert not CONTRACTS[rule].check(changed_graph, verbose=False).kept
