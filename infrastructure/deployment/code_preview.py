"""Compare the code and the settings of a deployed stage with those that a deployment would create.

The package is built, but nothing is deployed.
"""

import hashlib
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import boto3

from infrastructure.deployment import code_package
from infrastructure.deployment.code_package import CodePackage
from infrastructure.deployment.dependencies import runtime_of
from infrastructure.doctor import examine
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Skipped
from infrastructure.functions import FUNCTIONS, Stage

_CHECKS: Final = ("functions", "event sources", "schedules", "policies", "gateway limits")
"""The doctor's checks of what a deployment of the code sets."""
_OTHER_METHODS: Final = "x-amazon-apigateway-any-method"
"""The operation of a path for all methods without an operation of their own."""


def changes(stage: Stage) -> list[str]:
    """Return what a deployment of the code would change, one line each.

    Raises:
        DeploymentError: the code cannot be packaged.
    """
    deployed = DeployedStage(stage, boto3.client("lambda").meta.region_name)
    with tempfile.TemporaryDirectory(prefix="feedback-preview-") as folder:
        package = code_package.package(stage.name, Path(folder), runtime_of(stage))
        return [*_code(deployed, package), *_settings(deployed), *_routes(deployed, package)]


def _code(deployed: DeployedStage, package: CodePackage) -> Iterator[str]:
    code = b64encode(hashlib.sha256(package.archive.read_bytes()).digest()).decode()
    for _, name, configuration in deployed.stage_functions:
        if configuration["CodeSha256"] != code:
            yield f"{name}: The code changes."
    prefix = deployed.resource_name("")
    known = set(map(deployed.function_name, FUNCTIONS))
    for name in sorted(deployed.functions.keys() - known):
        if name.startswith(prefix):
            yield f"{name}: The function is deleted."


def _settings(deployed: DeployedStage) -> Iterator[str]:
    for check in examine.CHECKS:
        if check.name in _CHECKS:
            with suppress(Skipped):
                for problem in examine.run(check, deployed):
                    yield f"{problem.resource}: {problem.detail}"


def _routes(deployed: DeployedStage, package: CodePackage) -> Iterator[str]:
    expected = {
        f"{'ANY' if method == _OTHER_METHODS else method.upper()} {path}"
        for resource in package.template["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Api"
        for path, methods in resource["Properties"]["DefinitionBody"]["paths"].items()
        for method in methods
    }
    for route in sorted(expected ^ deployed.routes):
        yield f"{'Add' if route in expected else 'Remove'} {route}"
