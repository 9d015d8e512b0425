"""Test that a trimmed package contains all files that the functions use."""

import json
import zipfile
from pathlib import Path

import botocore
import pytest

from infrastructure.deployment.trim import AWS_SERVICES, remove_unused_files

POLICIES = Path(__file__).parents[3] / ".chalice" / "policies"
WITHOUT_CLIENT = {"logs"}  # the Lambda runtime writes the logs

USED = [
    "app.py",
    "botocore/__init__.py",
    "botocore/data/endpoints.json",
    "botocore/data/dynamodb/2012-08-10/service-2.json.gz",
    "boto3/session.py",
]
UNUSED = [
    "botocore/data/ec2/2016-11-15/service-2.json.gz",
    "boto3/examples/s3.rst",
    "aws_lambda_powertools/event_handler/openapi/swagger_ui/swagger-ui-bundle.min.js",
]


def test_trimmed_package_contains_only_used_files(tmp_path: Path) -> None:
    file = tmp_path / "package.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in [*USED, *UNUSED]:
            archive.writestr(name, name * 100)
    remove_unused_files(file)
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == USED
        assert {archive.read(name).decode() for name in USED} == {name * 100 for name in USED}
        assert archive.getinfo("app.py").compress_type == zipfile.ZIP_DEFLATED
    assert list(tmp_path.iterdir()) == [file]


def test_package_contains_exactly_services_that_policies_allow() -> None:
    actions = {
        action
        for policy in POLICIES.glob("*.json")
        for statement in json.loads(policy.read_text())["Statement"]
        for action in statement["Action"]
    }
    services = {action.partition(":")[0] for action in actions}
    assert services - WITHOUT_CLIENT == AWS_SERVICES


@pytest.mark.parametrize("service", sorted(AWS_SERVICES))
def test_trimmed_package_contains_definition_of_service(service: str, tmp_path: Path) -> None:
    site_packages = Path(botocore.__file__).parents[1]
    definitions = site_packages.glob(f"botocore/data/{service}/*/service-2.json*")
    names = [str(definition.relative_to(site_packages)) for definition in definitions]
    assert names
    file = tmp_path / "package.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    remove_unused_files(file)
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == names
