"""Remove unused files and differences between machines from the packaged app. Add byte code.

A smaller package makes deployments and the first start of a function faster. Packages of the same
files are equal, so you can compare a package with another build of the same source.

Lambda's folder with the code is read-only: without byte code in the package, each cold start
compiles every module that it imports, and every template of its first page.
"""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from jinja2 import FileSystemLoader

from chalicelib.web.pages import page
from infrastructure.deployment.dependencies import THIS_MACHINE, UV
from infrastructure.deployment.progress import DeploymentError

_PROJECT: Final = Path(__file__).resolve().parents[2]
AWS_SERVICES: Final = frozenset({"dynamodb", "secretsmanager", "ses", "sns", "sqs", "ssm"})
"""The AWS services for which the functions create clients.

Code that only commands of operators run creates clients of other services too, but this code does
not run from the package.
"""

_SERVICE_DATA: Final = ("botocore", "data")
_AUTHORITIES: Final = ("Amazon Root CA ", "DigiCert Global Root ", "Starfield Services Root ")
"""The names, up to a number, of the authorities that sign the certificates of AWS.

Amazon signs them itself. DigiCert signed them before.
"""

_UNUSED: Final = (
    "aws_lambda_powertools/event_handler/openapi/swagger_ui/",
    "boto3/data/",  # definitions of resources; the functions use only clients
    "boto3/examples/",
    "bin/",  # programs of packages; each contains the path of this machine's Python
    ".lock",  # of the installer
)
_NOT_IMPORTED: Final = (
    "aws_lambda_powertools/event_handler/",
    "aws_lambda_powertools/utilities/data_classes/",
    "aws_lambda_powertools/utilities/parser/",
    "dns/",
    "phonenumbers/data/region_",  # one small module for each region, imported for its numbers
    "phonenumbers/shortdata/region_",
    "pydantic/v1/",
)
"""Prefixes of modules that a cold start does not import. Their byte code would only take space."""
_INSTALLER_FILES: Final = ("RECORD", "INSTALLER", "REQUESTED")
_FILE_MODE: Final = 0o100644
"""Regular files that every user can read: Lambda runs the functions as another user."""


def trim_archive(archive: Path, python_version: str) -> None:
    """Remove the unused files from a zip file, and add compiled templates and byte code.

    The files are sorted, and their dates and modes reset.

    Args:
        archive: the zip file.
        python_version: the minor version of Python in which the functions run.

    Raises:
        DeploymentError: the modules could not be compiled.
    """
    part = archive.with_name(f"{archive.name}.part")
    with TemporaryDirectory(prefix="feedback-package-") as name:
        folder = Path(name)
        with ZipFile(archive) as full:
            full.extractall(folder, [file for file in full.namelist() if not _is_unused(file)])
        _shorten_service_data(folder.joinpath(*_SERVICE_DATA))
        _remove_authorities(folder / "botocore" / "cacert.pem")
        compile_templates(folder)
        compile_modules(folder, python_version)
        files = (file for file in folder.rglob("*") if file.is_file())
        with ZipFile(part, "w") as trimmed:
            for file in sorted(file.relative_to(folder).as_posix() for file in files):
                item = ZipInfo(file)
                item.compress_type = ZIP_DEFLATED
                item.external_attr = _FILE_MODE << 16
                trimmed.writestr(item, (folder / file).read_bytes())
    part.replace(archive)


def compile_templates(folder: Path) -> None:
    """Add a module to a folder of the app for each template that functions render."""
    templates = folder / page.TEMPLATES.relative_to(_PROJECT)
    environment = page.environment().overlay()
    environment.loader = FileSystemLoader(templates)
    compiled = folder / page.COMPILED.relative_to(_PROJECT)
    environment.compile_templates(compiled, zip=None, ignore_errors=False)


def compile_modules(folder: Path, python_version: str) -> None:
    """Add the byte code of the modules in a folder, for a minor version of Python.

    Python uses this byte code without comparing it with the source (PEP 552, unchecked hash).
    Another version of Python ignores it, because the file names contain the version. Equal
    modules in different folders result in equal byte code.

    Raises:
        DeploymentError: no interpreter of this version was found, or a module has an error.
    """
    command = [sys.executable]
    if python_version != THIS_MACHINE.python_version:
        command = [str(UV), "run", "--quiet", "--no-project", "--python", python_version, "python"]
    folder = folder.resolve()
    # uv searches the PATH. The interpreters of pyenv are there only if pyenv has selected them.
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    interpreters = map(str, pyenv.glob(f"versions/{python_version}.*/bin"))
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *interpreters])
    process = subprocess.run(
        [
            *(*command, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
            *("-x", f"^{folder}/({'|'.join(_NOT_IMPORTED)})", "-s", folder, folder),
        ],
        cwd=folder.parent,
        # The order of the items of a set depends on the seed for hashes.
        env=os.environ | {"PYTHONHASHSEED": "0", "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if process.returncode != 0:
        raise DeploymentError(
            f"Compiling the app for Python {python_version} failed: {process.stdout.strip()}"
        )


def _shorten_service_data(folder: Path) -> None:
    """Remove texts and unused endpoints from the data of botocore, which clients parse."""
    prefixes = set()
    for file in folder.glob("*/*/service-2.json.gz"):
        service = json.loads(gzip.decompress(file.read_bytes()))
        prefixes.add(service["metadata"]["endpointPrefix"])
        file.with_suffix("").write_text(json.dumps(_without_documentation(service)))
        file.unlink()
    endpoints = folder / "endpoints.json"
    if endpoints.exists():
        content = json.loads(endpoints.read_text())
        for partition in content["partitions"]:
            services = partition["services"]
            partition["services"] = {name: services[name] for name in services.keys() & prefixes}
        endpoints.write_text(json.dumps(content, sort_keys=True))


def _remove_authorities(file: Path) -> None:
    """Remove the authorities that AWS does not use. Each new connection of a client parses all."""
    if file.exists():
        certificates = file.read_text().split("\n\n")
        labels = tuple(f'\n# Label: "{name}' for name in _AUTHORITIES)
        kept = [text for text in certificates if any(label in text for label in labels)]
        file.write_text("\n\n".join(kept) + "\n")


def _without_documentation(value: Any) -> Any:
    """Return a service's definition without its texts.

    The name of a shape or of a member of a structure can be ``documentation`` too. Its value is
    not a text.
    """
    if isinstance(value, dict):
        return {
            name: _without_documentation(item)
            for name, item in value.items()
            if name != "documentation" or not isinstance(item, str)
        }
    if isinstance(value, list):
        return [_without_documentation(item) for item in value]
    return value


def _is_unused(name: str) -> bool:
    folder, data, service, *rest = (*name.split("/"), "", "")
    is_service = (folder, data) == _SERVICE_DATA and any(rest)
    return (
        (is_service and service not in AWS_SERVICES)
        or name.startswith(_UNUSED)
        or (folder.endswith(".dist-info") and data in _INSTALLER_FILES)
    )
