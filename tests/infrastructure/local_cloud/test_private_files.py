"""Test that other users of the machine cannot read the files of the local cloud."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from infrastructure.deployment.progress import DeploymentError
from infrastructure.local_cloud.__main__ import hide_folder, main


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    earlier = os.umask(0o022)
    yield
    os.umask(earlier)


def permissions(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_files_of_command_and_of_its_child_processes_are_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "state"
    monkeypatch.setenv("STATE_DIR", str(folder))
    assert main(["stop"]) == 0
    subprocess.run(["touch", folder / "emulator.log"], check=True)
    modes = {path.name: permissions(path) for path in folder.iterdir()}
    assert set(modes) > {"emulator.log"}
    assert set(modes.values()) == {0o600}
    assert permissions(folder) == 0o700


def test_folder_of_earlier_version_becomes_private(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o755)
    hide_folder(folder)
    assert permissions(folder) == 0o700


def test_shared_folder_is_rejected_and_not_changed(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(DeploymentError, match="STATE_DIR"):
        hide_folder(tmp_path)
    assert permissions(tmp_path) == 0o777
