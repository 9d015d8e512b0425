"""Test that a trimmed package contains all files that the functions use."""

import json
import ssl
import subprocess
import sys
import zipfile
from pathlib import Path

import botocore
import botocore.session
import pytest
from botocore.loaders import Loader
from jinja2 import ModuleLoader

from chalicelib.web.pages import page
from infrastructure.deployment import trim
from infrastructure.deployment.dependencies import THIS_MACHINE
from infrastructure.deployment.progress import DeploymentError
from infrastructure.deployment.trim import AWS_SERVICES, trim_archive

POLICIES = Path(__file__).parents[3] / ".chalice" / "policies"
WITHOUT_CLIENT = {"logs"}  # the Lambda runtime writes the logs

USED = [
    "app.py",
    "botocore/__init__.py",
    "botocore/data/dynamodb/2012-08-10/paginators-1.json",
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
TAG = sys.implementation.cache_tag
BYTE_CODE = [
    f"__pycache__/app.{TAG}.pyc",
    f"boto3/__pycache__/session.{TAG}.pyc",
    f"botocore/__pycache__/__init__.{TAG}.pyc",
]
PYTHON = THIS_MACHINE.python_version


def content(name: str) -> str:
    """Return the content of a file. The order of the items of a set depends on a seed."""
    return f"NAMES = {{{name!r}, 'a', 'b', 'c'}}\ndef f(x): return x in {{'a', 'b', {name!r}}}\n"


def test_trimmed_package_contains_only_used_files(tmp_path: Path) -> None:
    file = tmp_path / "package.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in [*USED, *UNUSED]:
            archive.writestr(name, content(name) * 100)
    trim_archive(file, PYTHON)
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == sorted([*USED, *BYTE_CODE])
        for name in USED:
            assert archive.read(name).decode() == content(name) * 100
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
                archive.writestr(item, content(name))
        trim_archive(file, PYTHON)
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


def test_clients_work_with_data_of_trimmed_package(tmp_path: Path) -> None:
    site_packages = Path(botocore.__file__).parents[1]
    data = Path(botocore.__file__).parent / "data"
    names = [name for service in AWS_SERVICES for name in data.glob(f"{service}/*/*")]
    file = tmp_path / "package.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name in [*names, *data.glob("*.json")]:
            archive.write(name, name.relative_to(site_packages))
    trim_archive(file, PYTHON)
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / "botocore" / "data"
    session = botocore.session.get_session()
    loader = Loader([str(folder)], include_default_search_paths=False)
    session.register_component("data_loader", loader)
    whole = botocore.session.get_session()
    for service in AWS_SERVICES:
        for region in ("eu-west-1", "us-gov-west-1", "cn-north-1"):
            client, expected = (s.create_client(service, region) for s in (session, whole))
            assert client.meta.endpoint_url == expected.meta.endpoint_url
            model, complete = client.meta.service_model, expected.meta.service_model
            assert model.operation_names == complete.operation_names
            # A mock adds shapes to the definitions that this process has loaded.
            assert {*model.shape_names} <= {*complete.shape_names}
    assert (folder / "endpoints.json").stat().st_size < 100_000


def test_package_trusts_only_authorities_of_aws(tmp_path: Path) -> None:
    file = Path(botocore.__file__).with_name("cacert.pem")
    name = "botocore/cacert.pem"
    trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusted.load_verify_locations(package_of(tmp_path, {name: file.read_text()}) / name)
    names = [dict(item for (item,) in ca["subject"]) for ca in trusted.get_ca_certs()]
    assert {name["commonName"] for name in names} == {
        *(f"Amazon Root CA {number}" for number in range(1, 5)),
        *("DigiCert Global Root CA", "DigiCert Global Root G2", "DigiCert Global Root G3"),
        "Starfield Services Root Certificate Authority - G2",
    }


def package_of(tmp_path: Path, files: dict[str, str], python_version: str = PYTHON) -> Path:
    """Return the folder of an unpacked trimmed package."""
    file = tmp_path / "package.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    trim_archive(file, python_version)
    folder = tmp_path / "package"
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder)
    return folder


def test_functions_use_byte_code_without_reading_source(tmp_path: Path) -> None:
    folder = package_of(tmp_path, {"app.py": "def fail(): raise ValueError\n"})
    compiled = folder / BYTE_CODE[0]
    assert int.from_bytes(compiled.read_bytes()[4:8], "little") == 0b01  # unchecked hash
    assert b"feedback-package-" not in compiled.read_bytes()  # the folder of the compilation
    (folder / "app.py").write_text("does not compile")
    program = "import app, sys; sys.stdout.write(app.fail.__code__.co_filename)"
    command = [sys.executable, "-B", "-c", program]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert result.stdout == str(folder / "app.py")


def test_byte_code_of_another_version_is_ignored(tmp_path: Path) -> None:
    folder = package_of(tmp_path, {"app.py": "VERSION = 1\n"})
    compiled = folder / BYTE_CODE[0]
    compiled.write_bytes(b"\0\0\0\0" + compiled.read_bytes()[4:])
    command = [sys.executable, "-B", "-c", "import app; assert app.VERSION == 1"]
    subprocess.run(command, cwd=folder, check=True)


def test_modules_that_no_cold_start_imports_are_not_compiled(tmp_path: Path) -> None:
    names = ["dns/resolver.py", "phonenumbers/data/region_FR.py", "phonenumbers/util.py"]
    folder = package_of(tmp_path, dict.fromkeys(names, ""))
    assert [file.name for file in folder.rglob("*.pyc")] == [f"util.{TAG}.pyc"]


def test_missing_interpreter_fails_packaging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\necho No interpreter found for Python $6 >&2\nexit 2\n")
    uv.chmod(0o700)
    monkeypatch.setattr(trim, "UV", uv)
    with pytest.raises(DeploymentError, match=r"for Python 3\.2 failed: No interpreter"):
        package_of(tmp_path, {"app.py": ""}, "3.2")


def test_functions_use_compiled_templates(tmp_path: Path) -> None:
    pages = page.TEMPLATES.parent
    files = [pages / "page.py", *page.TEMPLATES.iterdir()]
    folder = package_of(
        tmp_path, {str(file.relative_to(pages.parents[2])): file.read_text() for file in files}
    )
    compiled = folder / page.COMPILED.relative_to(pages.parents[2])
    loader = ModuleLoader(compiled)
    environment = page.environment().overlay()
    rendered = {template.name for template in page.TEMPLATES.iterdir()}
    assert len(list(compiled.glob(f"__pycache__/*.{TAG}.pyc"))) == len(rendered)
    for name in rendered:
        assert loader.load(environment, name).root_render_func
