"""Test that loading an exported form or workflow again does not change it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.display.definitions import show_definition
from admin.domain.forms.contact_form import define_contact_form
from admin.domain.forms.survey import define_survey
from admin.domain.workflows.definition import build_workflow, parse_workflow_definition
from admin.services.definitions.export import form_definition, workflow_definition
from admin.services.definitions.plain_yaml import read_yaml, write_yaml
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from infrastructure.demo.contents import demo_definitions
from tests.domain.forms import factories
from tests.domain.forms.complete_form import COMPLETE_FORM
from tests.domain.forms.factories import BRAND, DIRECTORY, LATER, NOW, STORE, field, select
from tests.domain.workflows.factories import workflow_definition as new_workflow

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
DEMO = [raw.content for raw in demo_definitions()]
DEMO_PLACES = Directory.of(
    [
        Place(id=content["id"], kind=PlaceKind(content["kind"].upper()), name=content["name"])
        for content in DEMO
        if content["kind"] in ("brand", "store")
    ]
)
SURVEY = {
    **COMPLETE_FORM,
    "publiclyAvailable": True,
    "sendingChannels": ["SMS", "LINK"],
    "targets": [{"type": "STORE", "targetId": STORE, "enabled": False}],
    "supportEmail": {"email": "a@example.com", "domain": ""},
    "preRedirect": True,
    "preRedirectConfig": {"type": "NPS", "threshold": 0},
    "postRedirect": True,
    "postRedirectThreshold": 0,
    "emailLogo": factories.IMAGE,
}


def content_of(definition: dict[str, Any]) -> dict[str, Any]:
    """Write a definition as YAML and read the YAML. Return the content that `load` would save."""
    (read,) = read_yaml(write_yaml(definition))
    assert read == definition
    return {name: value for name, value in read.items() if name not in ("kind", "account")}


def assert_form_is_unchanged(kind: str, definition: dict[str, Any], places: Directory) -> None:
    define: Any = define_survey if kind == "survey" else define_contact_form
    saved = define(definition, places, NOW)
    exported = form_definition(BRAND, saved)
    assert exported["kind"] == kind
    assert define(content_of(exported), places, LATER, saved) == saved
    assert define(content_of(exported), places, NOW) == saved


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        COMPLETE_FORM,
        {"enabled": False, "autoTranslate": True, "description": "no"},
        {"fields": [field("a", verticalIndex=0), field("b", verticalIndex=0, horizontalIndex=1)]},
        {
            "fields": [field("createdAt"), select("dependencies", kind="MULTI_SELECT")],
            "translations": {"fr": {"fields": {"createdAt": {"label": "Créé"}}}, "de": {}},
        },
    ],
)
def test_exported_contact_form_loads_unchanged(overrides: dict[str, Any]) -> None:
    definition = factories.contact_form(**overrides)
    assert_form_is_unchanged("contactForm", definition, DIRECTORY)


@pytest.mark.parametrize("overrides", [{}, SURVEY])
def test_exported_survey_loads_unchanged(overrides: dict[str, Any]) -> None:
    assert_form_is_unchanged("survey", factories.survey(**overrides), DIRECTORY)


@pytest.mark.parametrize(
    "content",
    [content for content in DEMO if content["kind"] in ("contactForm", "survey")],
    ids=lambda content: content["name"],
)
def test_exported_demo_form_loads_unchanged(content: dict[str, Any]) -> None:
    definition = {name: value for name, value in content.items() if name not in ("kind", "account")}
    assert_form_is_unchanged(content["kind"], definition, DEMO_PLACES)


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        {
            "enabled": False,
            "operator": "$or",
            "conditions": [
                {"subject": "rating", "operator": "$lte", "value": "4"},
                {
                    "operator": "$and",
                    "conditions": [
                        {
                            "subject": "answer",
                            "field": "why",
                            "operator": "$exists",
                            "value": "true",
                        }
                    ],
                },
            ],
        },
    ],
)
def test_exported_workflow_loads_unchanged(overrides: dict[str, Any]) -> None:
    saved = build_workflow(parse_workflow_definition(new_workflow(**overrides), DIRECTORY), NOW)
    content = content_of(workflow_definition(BRAND, saved))
    assert build_workflow(parse_workflow_definition(content, DIRECTORY), NOW) == saved


@given(st.dictionaries(TEXTS, TEXTS | st.integers() | st.booleans() | st.lists(TEXTS)))
def test_values_written_as_yaml_are_read_unchanged(value: dict[str, Any]) -> None:
    assert list(read_yaml(write_yaml(value))) == [value]


@pytest.mark.parametrize(
    "text",
    ["\u2067Zoé\u2069 שלום", "a\u202eb\u202c", "line\u2028end", "\u2066" * 150, "a\xa0", "\u3000"],
    ids=lambda text: ascii(text[:9]),
)
def test_printed_definition_is_read_unchanged(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    definition = {"kind": "contactForm", text: [text], "name": text}
    show_definition(definition)
    assert list(read_yaml(capsys.readouterr().out)) == [definition]


@pytest.mark.parametrize(
    "text", ["no", "1e3", "12:30", "0o7", "~", "<<", "2026-11-20", "", "=", "-1"]
)
def test_yaml_text_that_looks_like_another_type_is_read_as_text(text: str) -> None:
    assert list(read_yaml(write_yaml([text, {text: text}]))) == [[text, {text: text}]]
