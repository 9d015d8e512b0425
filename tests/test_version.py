"""Tests of the version of the product."""

import re
import tomllib
from pathlib import Path

from chalicelib import __version__
from chalicelib.aws_calls import client_config

ROOT = Path(__file__).resolve().parents[1]


def test_project_and_user_agent_have_version_of_product() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == __version__
    assert client_config().user_agent == f"feedback-platform/{__version__}"  # type: ignore[attr-defined]


def test_changelog_begins_with_version_of_product() -> None:
    first = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert first == ("Unreleased" if __version__.endswith(".dev0") else __version__)
