"""Test the files in docs/definitions.md, the JSON Schema, and the files of ``definition new``."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from admin.services.definitions import kinds
from admin.services.definitions.templates import Template
from chalicelib.domain.ids import new_id
from chalicelib.storage.places import load_directory
from infrastructure.demo.contents import demo_definitions
from infrastructure.generate.definition_reference import SCHEMA
from tests.admin.command import new_account, run
from tests.admin.services.definitions.test_check import errors_of
from tests.docs.blocks import block, blocks

PAGE = "docs/definitions.md"
BRAND = {"kind": "brand", "id": "0c9cf5d6-4a5c-4c8b-9a55-0c4c1f4f7a01", "name": "Maison Lumen"}
SURVEY = {"kind": "survey", "key": "visit", "name": "Visit", "language": "fr"}


@cache
def validator() -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def is_valid(content: Any) -> bool:
    return bool(validator().is_valid(content))


def test_schema_accepts_demo_data_and_null() -> None:
    demo = [raw.content for raw in demo_definitions()]
    people = [content for content in demo if content["kind"] == "customer"]
    resources = [each for each in demo if each["kind"] not in ("customer", "purchase")]
    assert is_valid(resources + people[::20])
    assert is_valid(BRAND | {"key": None, "color": None})


@pytest.mark.parametrize(
    "content",
    [
        {"name": "No kind"},
        BRAND | {"kind": "shop"},
        BRAND | {"colour": "#0b7285"},
        BRAND | {"color": "red"},
        BRAND | {"key": "x" * 33},
        BRAND | {"name": 7},
        {"kind": "brand", "name": "Neither id nor key"},
        SURVEY | {"fields": [{"key": "a", "type": "SLIDER"}]},
        SURVEY | {"translations": {"fr": {"header": {"titel": "A"}}}},
        [BRAND, SURVEY | {"targets": [{"type": "STORE"}]}],
    ],
    ids=str,
)
def test_schema_rejects_what_load_rejects(content: Any) -> None:
    assert not is_valid(content)
    assert errors_of(*content if isinstance(content, list) else [content])


def test_example_of_page_loads_and_matches_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cloud: None
) -> None:
    monkeypatch.chdir(tmp_path)
    text = block(PAGE, "key: lumen").text
    (tmp_path / "example.yaml").write_text(text)
    assert all(is_valid(document) for document in yaml.safe_load_all(text))
    loaded = run("definition", "load", "example.yaml", "--account", new_account(), "--yes")
    assert loaded.exit_code == 0, loaded.stderr


@pytest.mark.parametrize("brand_count", [0, 2])
def test_new_definitions_load_as_they_are(brand_count: int, tmp_path: Path, cloud: None) -> None:
    account = new_account()
    (commands,) = (b.admin_commands for b in blocks(PAGE) if "definition new survey" in b.text)
    assert commands[0] == "definition new survey ACCOUNT > survey.yaml"
    for number in range(brand_count):
        brand = {"id": new_id(), "name": f"Brand\n{number}", "key": str(number)}
        kinds.save(kinds.BRAND, account, brand)
    brands = {place.id for place in load_directory(account).places}
    for template in Template:
        shown = run("definition", "new", template.value, account)
        assert (shown.exit_code, shown.stderr) == (0, "")
        assert all(map(is_valid, yaml.safe_load_all(shown.stdout)))
        (tmp_path / f"{template.value}.yaml").write_text(shown.stdout)
        assert all(brand in shown.stdout for brand in brands) or template is Template.WORKFLOW
    command = ("definition", "load", *sorted(tmp_path.iterdir()), "--account", account, "--yes")
    loaded = run(*command)
    assert loaded.exit_code == 0, loaded.stderr
    assert "1 store, 1 contact form, 1 survey, 1 workflow" in loaded.stdout
    assert "Nothing to change" in run(*command).stderr
    assert is_valid(json.loads(run("definition", "new", "survey", account, "--json").stdout))
