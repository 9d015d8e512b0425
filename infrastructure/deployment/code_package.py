"""Package the app with Chalice and add settings that Chalice does not support.

Chalice packages all files of the app's folder and names the package after a hash of the files.
Therefore Chalice runs in a copy of the folder that contains only the files to deploy. The folder
`vendor` of the copy contains the packages that the app needs. Chalice merges it into the archive.
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

from infrastructure.deployment import dependencies, gateway_responses, stacks, trim
from infrastructure.deployment.dependencies import THIS_MACHINE, Runtime
from infrastructure.deployment.progress import DeploymentError, fail
from infrastructure.functions import stage_named

PROJECT = Path(__file__).resolve().parents[2]
_CHALICE = Path(__file__).with_name("chalice_for_python.py")
_DEPLOYED_FILES = (
    "app.py",
    "chalicelib",
    ".chalice/config.json",
    ".chalice/policies",
)
_PACKAGES = ".chalice/deployments"

PARTIAL_BATCH_RESPONSES: Final[list[Literal["ReportBatchItemFailures"]]] = [
    "ReportBatchItemFailures"
]
"""The value of an event source's `FunctionResponseTypes` that enables partial batch responses."""

Template = dict[str, Any]


@dataclass(frozen=True)
class CodePackage:
    """A packaged app.

    Attributes:
        template: the SAM template that Chalice generated.
        archive: the zip file with the code of all functions.
    """

    template: Template
    archive: Path


def source_files() -> list[Path]:
    """Return the deployed files and the deployment configuration, in a stable order."""
    paths = [PROJECT / name for name in _DEPLOYED_FILES]
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    return sorted(file for file in files if file.is_file() and is_source_path(file))


def is_source_path(path: Path) -> bool:
    """Return whether a path is inside the deployed files or the deployment configuration."""
    is_deployed = any(path.is_relative_to(PROJECT / name) for name in _DEPLOYED_FILES)
    return is_deployed and "__pycache__" not in path.parts


def source_hash() -> str:
    """Return a hash of everything that the code stack depends on.

    These are the source files, the locked packages, the code of the deployment, and the versions of
    Chalice and Python.
    """
    files = source_files()
    names = [str(file.relative_to(PROJECT)) for file in files]
    builders = [dependencies.REQUIREMENTS, *sorted(Path(__file__).parent.glob("*.py"))]
    versions = [version("chalice"), THIS_MACHINE.python_version]
    return stacks.content_hash([*names, *files, *builders, *versions])


def copy_source(folder: Path) -> None:
    """Replace the source files in a folder."""
    for name in _DEPLOYED_FILES:
        shutil.rmtree(folder / name, ignore_errors=True)
    for file in source_files():
        copy = folder / file.relative_to(PROJECT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def run_chalice(
    *arguments: str, folder: Path, python_version: str = THIS_MACHINE.python_version
) -> None:
    """Run Chalice in a folder that contains a copy of the source.

    Args:
        folder: the folder with the copy.
        python_version: the minor version of Python in which the functions run.

    Raises:
        DeploymentError: Chalice failed. The message contains the last line of its output.
    """
    process = subprocess.run(
        # With -P, Python does not import modules from the folder of the script.
        [sys.executable, "-P", _CHALICE, python_version, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if process.returncode != 0:
        log = PROJECT / ".build" / "chalice.log"
        log.parent.mkdir(exist_ok=True)
        log.write_text(process.stdout)
        last = (process.stdout.strip().splitlines() or ["no output"])[-1]
        raise DeploymentError(f"chalice {arguments[0]} failed: {last} (complete output in {log})")


def package(stage: str, folder: Path, runtime: Runtime) -> CodePackage:
    """Package the app for a stage in a folder. Later calls reuse the folder.

    The archive contains only files that the functions use. The same sources and packages result in
    the same archive.

    Args:
        stage: the name of the stage.
        folder: the folder for the copy of the source and for the archive.
        runtime: the platform and the Python version of the packages in the archive.

    Raises:
        DeploymentError: Chalice failed, or a package cannot be installed.
    """
    copy_source(folder)
    dependencies.install(folder / "vendor", runtime)
    # Chalice does not delete old packages, and would reuse an incomplete package of the same files.
    shutil.rmtree(folder / _PACKAGES, ignore_errors=True)
    run_chalice(
        *("package", "--stage", stage, "package"),
        folder=folder,
        python_version=runtime.python_version,
    )
    template = json.loads((folder / "package" / "sam.json").read_text())
    (archive,) = _archives(folder)
    trim.trim_archive(archive, runtime.python_version)
    return CodePackage(template=template, archive=archive)


def deploy(stage: str, folder: Path, runtime: Runtime) -> None:
    """Package the app for a stage and a runtime, and deploy the archive with Chalice.

    Raises:
        DeploymentError: Chalice failed, or did not deploy the archive of ``package``.
    """
    package(stage, folder, runtime)
    packaged = _archives(folder)
    run_chalice("deploy", "--stage", stage, folder=folder, python_version=runtime.python_version)
    # Chalice reuses the archive if it computes the same file name. Otherwise it builds another one.
    if _archives(folder) != packaged:
        raise DeploymentError(
            "chalice deploy built and deployed another archive, which also contains the files that"
            " the functions do not use."
        )


def complete(template: Template, code_address: str) -> Template:
    """Return the template with the S3 URL of the code and the additional settings.

    Chalice does not support these settings.
    """
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
    # Select queue events by type instead of name, so that events of renamed functions are included.
    events = {
        name: event
        if event["Type"] != "SQS"
        else event
        | {"Properties": event["Properties"] | {"FunctionResponseTypes": PARTIAL_BATCH_RESPONSES}}
        for name, event in properties.get("Events", {}).items()
    }
    return function | {"Properties": properties | ({"Events": events} if events else {})}


def _archives(folder: Path) -> list[Path]:
    """Return the packages that Chalice has built in a folder."""
    return list((folder / _PACKAGES).glob("*.zip"))


def main(arguments: list[str]) -> int:
    """Package the app, and write the template to the path in the first argument for the linter.

    Return the exit status of the process.
    """
    output = Path(arguments[0])
    # Chalice requires a region. Any region works, because the template does not depend on it.
    os.environ.setdefault("AWS_DEFAULT_REGION", "eu-west-1")
    prod = stage_named("prod")
    try:
        packaged = package(prod.name, output.parent / "build", dependencies.runtime_of(prod))
    except DeploymentError as error:
        return fail(str(error))
    template = complete(packaged.template, "s3://artifacts/code.zip")
    output.write_text(json.dumps(template, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
