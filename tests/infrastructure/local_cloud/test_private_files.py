"""Test that other users of the machine cannot read the files of the local cloud."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from infrastructure.local_cloud.__main__ import main


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
    monkeypatch.setenv("STATE_DIR", str(tmp_path / "state"))
    assert main(["stop"]) == 0
    subprocess.run(["touch", tmp_path / "file"], check=True)
    assert permissions(tmp_path / "file") == 0o600
