"""Tests of the copy of the deployment package that the processes of functions share."""

import shutil
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from infrastructure.local_cloud.strict.shared_code import SharedPackage


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def extract(folder: Path, process: str, source: str) -> Path:
    """Extract a package for a process, as the emulator does. Return the folder of the code."""
    code = folder / process / "code"
    code.mkdir(parents=True)
    package = folder / process / "code.zip"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr(zipfile.ZipInfo("app.py"), source)
    with SharedPackage(package) as archive:
        archive.extractall(code)
    return code


def test_concurrent_processes_share_one_copy(folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda n: extract(folder, str(n), "x = 1"), range(4)))
    assert [(code / "app.py").read_text() for code in codes] == ["x = 1"] * 4
    assert len({code.resolve() for code in codes}) == 1


def test_changed_package_has_its_own_copy(folder: Path) -> None:
    first, second = extract(folder, "1", "x = 1"), extract(folder, "2", "x = 2")
    assert ((first / "app.py").read_text(), (second / "app.py").read_text()) == ("x = 1", "x = 2")


def test_copy_is_kept_while_process_uses_it_and_then_deleted(folder: Path) -> None:
    used, ended = extract(folder, "1", "x = 1"), extract(folder, "2", "x = 2").resolve()
    # The emulator deletes the folder of a process that ended.
    shutil.rmtree(folder / "2")
    extract(folder, "3", "x = 3")
    assert (used / "app.py").read_text() == "x = 1"
    assert not ended.exists()
