"""Test that the project satisfies each import rule, and that each rule detects a violation."""

from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import grimp
import pytest
from importlinter import api
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from importlinter.domain.contract import Contract

CONFIGURATION: Final = api.read_configuration(str(Path(__file__).parents[2] / "pyproject.toml"))
TYPES: Final = {
    "acyclic_siblings": AcyclicSiblingsContract,
    "forbidden": ForbiddenContract,
    "layers": LayersContract,
}
VIOLATIONS: Final = (
    ("layers", "domain.ids", "chalicelib.settings"),
    ("layers", "domain.ids", "chalicelib.log"),
    ("layers", "domain.ids", "chalicelib.storage.accounts"),
    ("layers", "services.caching", "chalicelib.web.query"),
    ("layers", "services.caching", "chalicelib.functions.sweep"),
    ("layers", "storage.accounts", "chalicelib.services.caching"),
    ("layers", "storage.accounts", "chalicelib.outbound.queues"),
    ("layers", "outbound.queues", "chalicelib.web.query"),
    ("layers", "outbound.queues", "chalicelib.functions.sweep"),
    ("layers", "web.query", "chalicelib.functions.sweep"),
    ("layers", "unplaced", "chalicelib.domain.ids"),
    ("features", "domain.webhooks.url", "chalicelib.domain.workflows.workflow"),
    ("features", "domain.ids", "chalicelib.domain.forms.form"),
    ("features", "services.accounts.directory", "chalicelib.services.forms.read"),
    ("features", "admin.services.accounts.manage", "admin.commands.account"),
    ("domain", "domain.ids", "chalice"),
    ("domain", "domain.ids", "boto3"),
    ("domain", "domain.ids", "botocore"),
    ("domain", "domain.ids", "pynamodb"),
    ("domain", "admin.domain.forms.form", "chalicelib.storage.accounts"),
    ("services", "services.caching", "chalice"),
    ("services", "services.caching", "pynamodb"),
    ("services", "log", "pynamodb"),
    ("services", "admin.services.work.parked", "pynamodb"),
    ("services", "storage.accounts", "chalice"),
    ("storage-and-outbound", "storage.accounts", "chalice"),
    ("storage-and-outbound", "outbound.queues", "chalice"),
    ("web-and-functions", "web.query", "chalicelib.storage.accounts"),
    ("web-and-functions", "web.query", "chalicelib.outbound.queues"),
    ("web-and-functions", "web.query", "boto3"),
    ("web-and-functions", "functions.sweep", "chalicelib.storage.accounts"),
    ("web-and-functions", "functions.sweep", "chalicelib.outbound.queues"),
    ("web-and-functions", "functions.sweep", "pynamodb"),
    ("admin", "admin.main", "chalicelib.storage.accounts"),
    ("admin", "admin.main", "chalicelib.outbound.queues"),
    ("admin", "admin.commands.work", "admin.storage.customer_ids"),
    ("admin", "admin.definitions.save", "admin.outbound.queue_depths"),
    ("admin-and-web", "admin.main", "chalicelib.web.query"),
    ("admin-and-web", "admin.services.work.parked", "chalicelib.functions.sweep"),
    ("doctor", "admin.main", "infrastructure.functions"),
    ("doctor", "admin.commands.stage", "infrastructure.functions"),
    ("shipped", "services.caching", "admin.services.work.parked"),
    ("shipped", "services.caching", "infrastructure.permissions"),
    ("app", "web.query", "app"),
    ("app", "admin.main", "app"),
)
"""Forbidden imports, each with the id of the rule that must detect it.

The second value is the importing module (without the prefix ``chalicelib.``), the third is the
imported module.
"""


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


def test_every_import_rule_is_tested_with_violation() -> None:
    assert {rule for rule, _, _ in VIOLATIONS} == set(CONTRACTS)


@pytest.mark.parametrize("rule", CONTRACTS)
def test_project_satisfies_import_rule(graph: grimp.ImportGraph, rule: str) -> None:
    assert CONTRACTS[rule].check(deepcopy(graph), verbose=False).kept


@pytest.mark.parametrize(("rule", "importer", "imported"), VIOLATIONS)
def test_import_rule_detects_violation(
    graph: grimp.ImportGraph, rule: str, importer: str, imported: str
) -> None:
    changed_graph = deepcopy(graph)
    importer = importer if importer.startswith("admin.") else f"chalicelib.{importer}"
    changed_graph.add_import(importer=importer, imported=imported)
    assert not CONTRACTS[rule].check(changed_graph, verbose=False).kept
