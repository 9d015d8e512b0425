"""Remove unused files, and everything that differs by machine, from the packaged app.

A smaller package makes deployments and the first start of a function faster. Packages of the same
files are equal, so you can compare a package with another build of the same source.
"""

from pathlib import Path
from typing import Final
from zipfile import ZipFile, ZipInfo

AWS_SERVICES: Final = frozenset(
    {"dynamodb", "lambda", "secretsmanager", "ses", "sns", "sqs", "ssm"}
)
"""The AWS services for which the functions create clients.

Code that only commands of operators run creates clients of other services too, but this code does
not run from the package.
"""

_SERVICE_DATA: Final = ("botocore", "data")
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


def trim_archive(archive: Path) -> None:
    """Remove the unused files from a zip file. Sort the others, and reset their dates and modes."""
    part = archive.with_name(f"{archive.name}.part")
    with ZipFile(archive) as full, ZipFile(part, "w") as trimmed:
        for name in sorted(full.namelist()):
            if not _is_unused(name):
                item = ZipInfo(name)
                item.compress_type = full.getinfo(name).compress_type
                item.external_attr = _FILE_MODE << 16
                trimmed.writestr(item, full.read(name))
    part.replace(archive)


def _is_unused(name: str) -> bool:
    folder, data, service, *rest = (*name.split("/"), "", "")
    is_service = (folder, data) == _SERVICE_DATA and any(rest)
    return (
        (is_service and service not in AWS_SERVICES)
        or name.startswith(_UNUSED)
        or (folder.endswith(".dist-info") and data in _INSTALLER_FILES)
    )
