"""Remove unused files, and everything that differs by machine, from the packaged app.

A smaller package makes deployments and the first start of a function faster. Packages of the same
files are equal, so you can compare a package with another build of the same source.
"""

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from infrastructure.deployment.byte_code import compile_modules, compile_templates

AWS_SERVICES: Final = frozenset(
    {"dynamodb", "lambda", "secretsmanager", "ses", "sns", "sqs", "ssm"}
)
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


def _shorten_service_data(folder: Path) -> None:
    """Remove what the functions do not read from the data of botocore, which clients parse."""
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
