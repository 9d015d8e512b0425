"""The app as Chalice packages it, made complete: what Chalice cannot express is added here.

Chalice works on a clean copy of what ships. It packs every file that it finds beside the app, and
names the package by their hash: left-over byte code would ship, and make every package look new.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

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

Template = dict[str, Any]


@dataclass(frozen=True)
class CodePackage:
    """A packaged app.

    Attributes:
        template: the SAM template, as Chalice wrote it.
        archive: the zip file that every function runs from.
    """

    template: Template
    archive: Path


def source_files() -> list[Path]:
    """The files that ship or say how they are deployed, in a stable order."""
    found = [PROJECT / name for name in _SHIPPED]
    files = [file for path in found for file in ([path] if path.is_file() else path.rglob("*"))]
    return sorted(file for file in files if file.is_file() and "__pycache__" not in file.parts)


def source_hash() -> str:
    """A hash of everything that decides what the code stack is."""
    files = source_files()
    names = [str(file.relative_to(PROJECT)) for file in files]
    makers = [Path(__file__), Path(gateway_responses.__file__)]
    return stacks.content_hash([*names, *files, *makers, version("chalice")])


def copy_source(folder: Path) -> None:
    """Bring a folder to a clean copy of the source, keeping what Chalice remembers there."""
    for name in _SHIPPED:
        shutil.rmtree(folder / name, ignore_errors=True)
    for file in source_files():
        copy = folder / file.relative_to(PROJECT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def run_chalice(*arguments: str, folder: Path) -> None:
    """Run Chalice in a folder that holds a copy of the source.

    Raises:
        DeploymentError: it failed; the message has its last line.
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
        last = (done.stdout.strip().splitlines() or ["it said nothing."])[-1]
        raise DeploymentError(f"chalice {arguments[0]} failed (all of it in {log}): {last}")


def package(stage: str, folder: Path) -> CodePackage:
    """Package the app for one stage, in a folder that is kept between runs.

    Raises:
        DeploymentError: Chalice could not package it.
    """
    copy_source(folder)
    # Chalice never removes the packages that it keeps for later; only the last can be of use again.
    for archive in sorted((folder / ".chalice" / "deployments").glob("*.zip"), key=_age)[:-1]:
        archive.unlink()
    run_chalice("package", "--stage", stage, "package", folder=folder)
    template = json.loads((folder / "package" / "sam.json").read_text())
    return CodePackage(template=template, archive=folder / "package" / "deployment.zip")


def complete(template: Template, code_address: str) -> Template:
    """The template with its code's address in S3 and what Chalice has no settings for."""
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
    # Found by what they are, not by name, so that renaming a function cannot lose it.
    events = {
        name: event
        if event["Type"] != "SQS"
        else event
        | {
            "Properties": event["Properties"]
            | {"FunctionResponseTypes": ["ReportBatchItemFailures"]}
        }
        for name, event in properties.get("Events", {}).items()
    }
    return function | {"Properties": properties | ({"Events": events} if events else {})}


def _age(file: Path) -> float:
    return file.stat().st_mtime
