"""Remove files that the functions do not use from the packaged app.

A smaller package makes deployments and the first start of a function faster.
"""

from pathlib import Path
from typing import Final
from zipfile import ZipFile

AWS_SERVICES: Final = frozenset({"dynamodb", "secretsmanager", "ses", "sns", "sqs", "ssm"})
"""The AWS services for which the functions create clients.

Code that only commands of operators run creates clients of other services too, but this code does
not run from the package.
"""

_SERVICE_DATA: Final = ("botocore", "data")
_UNUSED_FOLDERS: Final = (
    "aws_lambda_powertools/event_handler/openapi/swagger_ui/",
    "boto3/data/",  # definitions of resources; the functions use only clients
    "boto3/examples/",
)


def remove_unused_files(archive: Path) -> None:
    """Remove the unused files from a zip file."""
    part = archive.with_name(f"{archive.name}.part")
    with ZipFile(archive) as full, ZipFile(part, "w") as trimmed:
        for item in full.infolist():
            if not _is_unused(item.filename):
                trimmed.writestr(item, full.read(item))
    part.replace(archive)


def _is_unused(name: str) -> bool:
    folder, data, service, *rest = (*name.split("/"), "", "")
    is_service = (folder, data) == _SERVICE_DATA and any(rest)
    return (is_service and service not in AWS_SERVICES) or name.startswith(_UNUSED_FOLDERS)
