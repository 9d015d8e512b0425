"""Test that Chalice verifies the hashes of the requirements that it packages."""

import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from chalice.deploy.packager import DependencyBuilder, PackageDownloadError
from chalice.utils import OSUtils


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a wheel in a folder, and make pip search for packages only in this folder."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    file = folder / "sample-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("sample.py", "")
        archive.writestr("sample-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(
            "sample-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n"
        )
        archive.writestr("sample-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return file


def package(folder: Path, digest: str) -> Path:
    """Package one requirement as Chalice does, and return the folder with the packaged files."""
    requirements, packaged = folder / "requirements.txt", folder / "packaged"
    requirements.write_text(f"sample==1.0 \\\n    --hash=sha256:{digest}\n")
    DependencyBuilder(OSUtils()).build_site_packages("cp311", str(requirements), str(packaged))
    return packaged


def test_requirement_with_matching_hash_is_packaged(tmp_path: Path, wheel: Path) -> None:
    packaged = package(tmp_path, sha256(wheel.read_bytes()).hexdigest())
    assert (packaged / "sample.py").exists()


def test_requirement_with_wrong_hash_is_rejected(tmp_path: Path, wheel: Path) -> None:
    with pytest.raises(PackageDownloadError, match="DO NOT MATCH THE HASHES"):
        package(tmp_path, "0" * 64)
