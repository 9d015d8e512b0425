"""Test that requirements are pinned with hashes and that their files name no package registry."""

import re
from pathlib import Path
from typing import Final

import pytest

from infrastructure import licences

ROOT: Final = Path(__file__).parents[2]
FILES: Final = (
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-uv.txt",
    "infrastructure/local_cloud/requirements.txt",
)
LOCKED: Final = re.compile(r"[a-z0-9][a-z0-9-]*==[0-9][0-9a-z.]*( --hash=sha256:[0-9a-f]{64})+")


def requirements(text: str) -> list[str]:
    """Return the requirements in a file, each as one line."""
    return re.sub(r" \\\n *", " ", text).splitlines()


def unlocked(text: str) -> list[str]:
    """Return the lines that are not pinned requirements with hashes."""
    return [line for line in requirements(text) if not LOCKED.fullmatch(line)]


@pytest.mark.parametrize("name", FILES)
def test_requirements_are_pinned_with_hashes(name: str) -> None:
    text = (ROOT / name).read_text()
    assert requirements(text)
    assert unlocked(text) == []


@pytest.mark.parametrize(
    "line",
    [
        "boto3",
        "boto3==1.44.5",
        f"boto3>=1.44.5 --hash=sha256:{'0' * 64}",
        f"boto3==1.* --hash=sha256:{'0' * 64}",
        f"boto3==1.44.5 --hash=md5:{'0' * 32}",
        f"boto3 @ file:///boto3.whl --hash=sha256:{'0' * 64}",
        "--index-url file:///packages",
        "--find-links /packages",
    ],
)
def test_unpinned_requirement_is_detected(line: str) -> None:
    locked = f"idna==3.20 \\\n    --hash=sha256:{'0' * 64}\n"
    assert unlocked(locked) == []
    assert unlocked(locked + line + "\n") == [line]


def test_deployed_requirements_are_subset_of_development_requirements() -> None:
    shipped, tested = (requirements((ROOT / name).read_text()) for name in FILES[:2])
    assert set(shipped) <= set(tested)


def test_licence_page_lists_all_packages() -> None:
    assert licences.files() == {licences.PAGE: licences.PAGE.read_text()}, "Run make generate."
