"""Package the app with Chalice.

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
from typing import Any

from infrastructure.deployment import dependencies, stacks, trim
from infrastructure.deployment.dependencies import THIS_MACHINE, Runtime
from infrastructure.deployment.progress import DeploymentError
from infrastructure.openapi import docs_pages

PROJECT = Path(__file__).resolve().parents[2]
_CHALICE = Path(__file__).with_name("chalice_internals.py")
_DEPLOYED_FILES = (
    "app.py",
    "chalicelib",
    ".chalice/config.json",
    ".chalice/policies",
)
_MANIFEST = PROJECT / "infrastructure" / "functions.py"
_PACKAGES = ".chalice/deployments"
_PAGES = "chalicelib/web/openapi/docs"

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
    return sorted(file for file in files if file.is_file() and "__pycache__" not in file.parts)


def source_hash(runtime: Runtime) -> str:
    """Return a hash of everything that the package and its template depend on.

    These are the source files, the sources of the documentation, the locked packages, the function
    manifest, the code of the deployment, the version of Chalice, and the runtime.
    """
    files = source_files()
    names = [str(file.relative_to(PROJECT)) for file in files]
    builders = [dependencies.REQUIREMENTS, _MANIFEST, *sorted(Path(__file__).parent.glob("*.py"))]
    builders += docs_pages.sources()
    return stacks.content_hash([*names, *files, *builders, version("chalice"), repr(runtime)])


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
    docs_pages.write(folder / _PAGES)
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


def _archives(folder: Path) -> list[Path]:
    """Return the packages that Chalice has built in a folder."""
    return list((folder / _PACKAGES).glob("*.zip"))
