"""Test that the recipes for contributors name files and code that exist."""

import re
from collections.abc import Iterator

import pytest

from tests.web.partner_client import ROOT

PAGE = (ROOT / "docs/contributing.md").read_text(encoding="utf-8")
RECIPES = PAGE[PAGE.index("## Add a platform") : PAGE.index("## Add a reason to skip")]


def steps() -> Iterator[tuple[list[str], list[str]]]:
    """Yield the files and the names of code in each step that changes existing Python modules."""
    for step in re.split(r"\n(?=\d+\. |\n|#)", RECIPES):
        quoted = re.findall(r"`([^`]+)`", step)
        files = [text for text in quoted if re.fullmatch(r"[\w/.-]+/[\w.-]+\.\w+", text)]
        names = [
            text for text in quoted if re.fullmatch(r"_[A-Za-z]\w*|[a-z]+_\w+|[A-Z_]{4,}", text)
        ]
        if re.match(r"\d+\. `[\w/]+\.(py|yaml)`", step):
            yield files, names


@pytest.mark.parametrize(("files", "names"), list(steps()))
def test_recipe_names_existing_files_and_code(files: list[str], names: list[str]) -> None:
    folder = ROOT / files[0].rpartition("/")[0]
    sources = [(ROOT / file if "/" in file else folder / file).read_text() for file in files]
    for name in names:
        assert any(re.search(rf"\b{name}\b", source) for source in sources), (files, name)


def test_recipes_have_steps() -> None:
    assert len(list(steps())) > 10
    assert any("build_customer" in names for _, names in steps())
