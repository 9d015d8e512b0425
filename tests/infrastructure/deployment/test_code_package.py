"""Tests of the archives in the deployment folder. A stub replaces Chalice."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from infrastructure.deployment import code_package, dependencies
from infrastructure.deployment.dependencies import THIS_MACHINE
from infrastructure.deployment.progress import DeploymentError

Chalice = Callable[[str, Path], None]


def write_archive(folder: Path, name: str) -> Path:
    archive = folder / ".chalice" / "deployments" / name
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("app.py", "")
    return archive


def write_package(folder: Path, name: str) -> None:
    """Write the files that `chalice package` writes."""
    write_archive(folder, name)
    (folder / "package").mkdir(exist_ok=True)
    (folder / "package" / "sam.json").write_text("{}")


def use_chalice(monkeypatch: pytest.MonkeyPatch, chalice: Chalice) -> None:
    def run(command: str, *_: str, folder: Path, python_version: str) -> None:
        chalice(command, folder)

    monkeypatch.setattr(code_package, "run_chalice", run)
    monkeypatch.setattr(dependencies, "install", lambda *_: None)


def archives(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob(".chalice/deployments/*"))


@pytest.mark.parametrize("error", [DeploymentError("chalice package failed"), KeyboardInterrupt()])
def test_archive_of_failed_call_is_not_reused(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str, folder: Path) -> None:
        write_archive(folder, "incomplete.zip")
        raise error

    use_chalice(monkeypatch, fail)
    with pytest.raises(type(error)):
        code_package.package("dev", tmp_path, THIS_MACHINE)

    def create(_: str, folder: Path) -> None:
        assert archives(folder) == []
        write_package(folder, "new.zip")

    use_chalice(monkeypatch, create)
    assert code_package.package("dev", tmp_path, THIS_MACHINE).archive.name == "new.zip"
    assert (tmp_path / "chalicelib/web/openapi/docs/purchases.html").exists()


def test_two_builds_of_same_source_have_same_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def archive_source(_: str, folder: Path) -> None:
        write_package(folder, "package.zip")
        # Chalice archives the files in the order of the file system, with their dates and modes.
        files = filter(Path.is_file, (folder / "chalicelib" / "web").rglob("*"))
        with zipfile.ZipFile(folder / ".chalice/deployments/package.zip", "w") as archive:
            for number, file in enumerate(sorted(files, reverse=folder.name == "second")):
                file.chmod(0o600 + 0o100 * (folder.name == "second"))
                os.utime(file, (number + 1_000_000_000,) * 2)
                archive.write(file, file.relative_to(folder))

    use_chalice(monkeypatch, archive_source)
    first, second = (
        code_package.package("dev", tmp_path / name, THIS_MACHINE).archive
        for name in ("first", "second")
    )
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert "chalicelib/web/openapi/docs/purchases.html" in archive.namelist()


def test_archive_that_cannot_be_trimmed_is_not_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def truncate(_: str, folder: Path) -> None:
        write_package(folder, "new.zip")
        (folder / ".chalice" / "deployments" / "new.zip").write_bytes(b"PK")

    use_chalice(monkeypatch, truncate)
    with pytest.raises(zipfile.BadZipFile):
        code_package.package("dev", tmp_path, THIS_MACHINE)
    use_chalice(monkeypatch, lambda _, folder: write_package(folder, "new.zip"))
    with zipfile.ZipFile(code_package.package("dev", tmp_path, THIS_MACHINE).archive) as archive:
        assert "app.py" in archive.namelist()
