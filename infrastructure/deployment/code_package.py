"""Package the app with Chalice and add the settings that Chalice does not have.

Chalice runs on a clean copy of the files that ship. It packs every file next to the app and names
the package by its hash, so left-over byte code would ship and change the hash.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal

from infrastructure.deployment import gateway_responses, stacks
from infrastructure.deployment.progress import DeploymentError

PROJECT = Path(__file__).resolve().parents[2]
_SHIPPED = (
    "app.py",
    "chalicelib",
    "requirements.txt",
    "vendor",
    ".chalice/config.json",
    ".chalice/policies",
)

PARTIAL_BATCH_RESPONSES: Final[list[Literal["ReportBatchItemFailures"]]] = [
    "ReportBatchItemFailures"
]
"""Response types of a queue's event source: the function returns the messages that failed."""

Template = dict[str, Any]


@dataclass(frozen=True)
class CodePackage:
    """A packaged app.

    Attributes:
        template: Chalice's SAM template.
        archive: the zip file that contains the code of every function.
    """

    template: Template
    archive: Path


def source_files() -> list[Path]:
    """Return the files that ship and the configuration of their deployment, in a stable order."""
    found = [PROJECT / name for name in _SHIPPED]
    files = [file for path in found for file in ([path] if path.is_file() else path.rglob("*"))]
    return sorted(file for file in files if file.is_file() and "__pycache__" not in file.parts)


def source_hash() -> str:
    """Return a hash of everything that determines the code stack."""
    files = source_files()
    names = [str(file.relative_to(PROJECT)) for file in files]
    builders = [Path(__file__), Path(gateway_responses.__file__)]
    return stacks.content_hash([*names, *files, *builders, version("chalice")])


def copy_source(folder: Path) -> None:
    """Make a folder a clean copy of the source; keep the package cache of Chalice."""
    for name in _SHIPPED:
        shutil.rmtree(folder / name, ignore_errors=True)
    for file in source_files():
        copy = folder / file.relative_to(PROJECT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def run_chalice(*arguments: str, folder: Path) -> None:
    """Run Chalice in a folder that contains a copy of the source.

    Raises:
        DeploymentError: Chalice failed. The message contains the last line of its output.
    """
    done = subprocess.run(
        [Path(sys.executable).with_name("chalice"), *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0 or "Could not install dependencies" in done.stdout:
        log = PROJECT / ".local" / "chalice.log"
        log.parent.mkdir(exist_ok=True)
        log.write_text(done.stdout)
        last = (done.stdout.strip().splitlines() or ["no output"])[-1]
        raise DeploymentError(f"chalice {arguments[0]} failed: {last} (complete output in {log})")


def package(stage: str, folder: Path) -> CodePackage:
    """Package the app for one stage, in a folder that persists between runs.

    Raises:
        DeploymentError: Chalice failed.
    """
    copy_source(folder)
    # Chalice never deletes old packages; only the newest can be used again.
    for archive in sorted((folder / ".chalice" / "deployments").glob("*.zip"), key=_age)[:-1]:
        archive.unlink()
    run_chalice("package", "--stage", stage, "package", folder=folder)
    template = json.loads((folder / "package" / "sam.json").read_text())
    return CodePackage(template=template, archive=folder / "package" / "deployment.zip")


def complete(template: Template, code_address: str) -> Template:
    """Add the S3 address of the code and the settings that Chalice does not have."""
    resources: dict[str, Any] = {}
    for name, resource in template["Resources"].items():
        if resource["Type"] == "AWS::Serverless::Function":
            resource = _completed_function(resource, code_address)
        resources[name] = resource
        if resource["Type"] == "AWS::Serverless::Api":
            resources |= gateway_responses.resources(name)
    return template | {"Resources": resources}


def _completed_function(function: Template, code_address: str) -> Template:
    properties = function["Properties"] | {"CodeUri": code_address}
    # Matched by type, not by name, so that a renamed function keeps the setting.
    events = {
        name: event
        if event["Type"] != "SQS"
        else event
        | {"Properties": event["Properties"] | {"FunctionResponseTypes": PARTIAL_BATCH_RESPONSES}}
        for name, event in properties.get("Events", {}).items()
    }
    return function | {"Properties": properties | ({"Events": events} if events else {})}


def _age(file: Path) -> float:
    return file.stat().st_mtime
