"""Tests of the virtual environments that `make` creates. Stubs replace Python, pip and uv."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
FILES: Final = (
    "Makefile",
    "requirements-dev.txt",
    "requirements-uv.txt",
    "infrastructure/local_cloud/requirements.txt",
)
COMMANDS: Final = ("cat", "chmod", "cp", "ln", "mkdir", "touch")

UV: Final = """#!/bin/sh
case "$*" in
  "python find"*)
    for last; do :; done
    case " $UV_HAS $PATH " in *" $last "*|*"/$last."*) exit 0 ;; esac
    exit 2 ;;
esac
echo "uv $*" >> "$LOG"
case "$*" in
  venv*--system-certs*) [ "$UV_FINDS" != never ] || exit 2 ;;
  venv*) [ "$UV_FINDS" = at-once ] || exit 2 ;;
  *sync*--system-certs*) exit 0 ;;
  *sync*) [ "$UV_SYNCS" = at-once ] || exit 2; exit 0 ;;
esac
for last; do :; done
mkdir -p "$last/bin"
touch "$last/bin/python"
chmod +x "$last/bin/python"
"""

PIP: Final = """#!/bin/sh
echo "pip $*" >> "$LOG"
cp "$STUBS/uv" .tools/uv/bin/uv
"""

PYTHON: Final = """#!/bin/sh
case "$1" in
  -c) [ "$PYTHON_IS" != old ] ;;
  -m)
    [ "$PYTHON_IS" != without-venv ] || exit 1
    mkdir -p .tools/uv/bin
    cp "$STUBS/pip" .tools/uv/bin/pip ;;
esac
"""


@dataclass(frozen=True)
class Machine:
    """A copy of the project, on a PATH that contains only the stubs and a few system commands."""

    project: Path
    stubs: Path

    def make(self, target: str = ".venv/.requirements", **variables: str) -> tuple[int, str]:
        """Run make. Return the exit status and standard error.

        Lines that make itself writes to standard error are omitted.
        """
        result = self._run(target, **variables)
        lines = [line for line in result.stderr.splitlines() if not line.startswith("make")]
        return result.returncode, "\n".join(lines)

    def plan(self, target: str, **variables: str) -> str:
        """Return the commands that make would run."""
        return self._run("--dry-run", target, **variables).stdout

    def _run(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [shutil.which("make") or "make", *arguments],
            cwd=self.project,
            env={
                "PATH": str(self.stubs),
                "STUBS": str(self.stubs),
                "LOG": str(self.project / "log"),
                "HOME": str(self.stubs),
                "UV_HAS": "3.11 3.13",
                "UV_FINDS": "at-once",
                "UV_SYNCS": "at-once",
                "PYTHON_IS": "good",
                **variables,
            },
            capture_output=True,
            text=True,
        )

    @property
    def calls(self) -> list[str]:
        """Return the calls of the pip and uv stubs so far, without options.

        Installations require hashes.
        """
        log = self.project / "log"
        calls = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
        assert all("--require-hashes" in words for words in calls if "venv" not in words)
        return [
            f"venv {words[words.index('--python') + 1]} {words[-1]}"
            if "venv" in words
            else f"{'sync' if 'sync' in words else 'install'} {words[-1]}"
            for words in calls
        ]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    project, stubs = tmp_path / "project", tmp_path / "stubs"
    stubs.mkdir()
    for name in FILES:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    for name in COMMANDS:
        (stubs / name).symlink_to(shutil.which(name) or name)
    for name, script in (("uv", UV), ("pip", PIP), ("python3", PYTHON)):
        (stubs / name).write_text(script)
        (stubs / name).chmod(0o755)
    return Machine(project, stubs)


VENV: Final = "venv 3.13 .venv"
SYNC: Final = "sync requirements-dev.txt"


def test_make_creates_environment_once_and_installs_changed_requirements(machine: Machine) -> None:
    for _ in range(2):
        assert machine.make() == (0, "")
        assert machine.calls == ["install requirements-uv.txt", VENV, SYNC]
    requirements = machine.project / "requirements-dev.txt"
    later = requirements.stat().st_mtime + 60
    os.utime(requirements, (later, later))
    assert machine.make() == (0, "")
    assert machine.calls[3:] == [SYNC]


@pytest.mark.parametrize(
    ("has", "pyenv", "chosen", "version"),
    [
        ("3.11 3.12 3.13 3.14", None, None, "3.13"),
        ("3.11 3.12 3.14", None, None, "3.14"),
        ("3.11 3.12", None, None, "3.12"),
        ("3.11", None, None, "3.11"),
        ("", None, None, "3.13"),
        ("3.11", "3.13.2", None, "3.13"),
        ("3.11 3.12 3.13 3.14", None, "3.11", "3.11"),
        ("", None, "3.12", "3.12"),
        ("", None, "3.12.7", "3.12"),  # the environment of an image of Python
    ],
)
def test_make_prefers_python_3_13_and_then_newest_python(
    machine: Machine, has: str, pyenv: str | None, chosen: str | None, version: str
) -> None:
    if pyenv:
        (machine.stubs / ".pyenv" / "versions" / pyenv / "bin").mkdir(parents=True)
    variables = {"PYTHON_VERSION": chosen} if chosen else {}
    assert machine.make(UV_HAS=has, **variables) == (0, "")
    assert machine.calls[1] == f"venv {version} .venv"


def test_both_environments_keep_their_python_until_another_one_is_chosen(machine: Machine) -> None:
    emulator = ".tools/ministack/.requirements"
    machine.make(PYTHON_VERSION="3.12")
    machine.make(emulator)
    machine.make(emulator, PYTHON_VERSION="3.11")
    machine.make()
    created = [call for call in machine.calls if call.startswith("venv")]
    assert created == [
        "venv 3.12 .venv",
        "venv 3.12 .tools/ministack",
        "venv 3.11 .tools/ministack",
        "venv 3.11 .venv",
    ]


def test_unsupported_python_is_rejected(machine: Machine) -> None:
    result = machine._run(".venv/.requirements", "PYTHON_VERSION=3.10")
    assert "Python 3.10 is not supported. Set PYTHON_VERSION to 3.11, 3.12, 3.13 or 3.14" in (
        result.stderr
    )
    assert machine.calls == []


@pytest.mark.parametrize("step", ["UV_FINDS", "UV_SYNCS"])
def test_failed_download_is_retried_with_system_certificates(machine: Machine, step: str) -> None:
    assert machine.make(**{step: "with-system-certs"}) == (0, "")
    (retried,) = {call for call in machine.calls if machine.calls.count(call) == 2}
    assert retried == {"UV_FINDS": VENV, "UV_SYNCS": SYNC}[step]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"UV_FINDS": "never"},
            "Cannot find or download Python 3.13. Install it, then run make again.",
        ),
        (
            {"UV_FINDS": "never", "PYTHON_VERSION": "3.14"},
            "Cannot find or download Python 3.14. Install it, then run make again.",
        ),
        (
            {"PYTHON_IS": "old"},
            "No Python 3.8 or later found as python3. Install one, or give its path with PYTHON=….",
        ),
        (
            {"PYTHON": "no-such-python"},
            "No Python 3.8 or later found as no-such-python."
            " Install one, or give its path with PYTHON=….",
        ),
        (
            {"PYTHON_IS": "without-venv"},
            "python3 cannot create environments."
            " Install its venv module (python3-venv on Debian and Ubuntu).",
        ),
    ],
)
def test_missing_python_stops_make_with_one_line_message(
    machine: Machine, variables: dict[str, str], message: str
) -> None:
    assert machine.make(**variables) == (2, message)
    assert not any("sync" in call for call in machine.calls)
    assert not (machine.project / ".venv" / ".requirements").exists()


@pytest.mark.parametrize(("variables", "jobs"), [({}, 3), ({"E2E_DEMO": "demo.json"}, 1)])
def test_parts_of_end_to_end_tests_run_one_by_one_on_running_cloud(
    machine: Machine, variables: dict[str, str], jobs: int
) -> None:
    assert f" --jobs={jobs} " in machine.plan("e2e", **variables)
