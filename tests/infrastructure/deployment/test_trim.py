"""Test that a trimmed package contains all files that the functions use."""

import json
import zipfile
from pathlib import Path

import botocore
import pytest

from infrastructure.deployment.trim import AWS_SERVICES, trim_archive

POLICIES = Path(__file__).parents[3] / ".chalice" / "policies"
WITHOUT_CLIENT = {"logs"}  # the Lambda runtime writes the logs

USED = [
    "app.py",
    "botocore/__init__.py",
    "botocore/data/endpoints.json",
    "botocore/data/dynamodb/2012-08-10/service-2.json.gz",
    "boto3-1.0.dist-info/METADATA",
    "boto3/session.py",
]
UNUSED = [
    "botocore/data/ec2/2016-11-15/service-2.json.gz",
    "boto3/examples/s3.rst",
    "aws_lambda_powertools/event_handler/openapi/swagger_ui/swagger-ui-bundle.min.js",
    "bin/jp.py",
    ".lock",
    "boto3-1.0.dist-info/RECORD",
]


def test_trimmed_package_contains_only_used_files(tmp_path: Path) -> None:
    file = tmp_path / "package.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in [*USED, *UNUSED]:
            archive.writestr(name, name * 100)
    trim_archive(file)
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == sorted(USED)
        assert {archive.read(name).decode() for name in USED} == {name * 100 for name in USED}
        assert archive.getinfo("app.py").compress_type == zipfile.ZIP_DEFLATED
    assert list(tmp_path.iterdir()) == [file]


def test_packages_of_same_files_are_equal_and_readable(tmp_path: Path) -> None:
    packages = []
    for number, (names, mode) in enumerate([(USED, 0o600), (USED[::-1], 0o777)]):
        file = tmp_path / f"{number}.zip"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                item = zipfile.ZipInfo(name, date_time=(2020 + number, 1, 1, 0, 0, 0))
                item.external_attr = mode << 16
                archive.writestr(item, name)
        trim_archive(file)
        packages.append(file.read_bytes())
        with zipfile.ZipFile(file) as archive:
            assert {item.external_attr >> 16 for item in archive.infolist()} == {0o100644}
    assert packages[0] == packages[1]


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
    trim_archive(file)
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == names
