"""What is told of a document that has malformed values: those, every other fault, nothing wrong."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.forms.definitions.form import FormDefinition
from chalicelib.domain.forms.definitions.survey import SurveyDefinition, read_survey
from chalicelib.domain.ids import new_id
from chalicelib.domain.input_errors import errors_of
from chalicelib.domain.workflows.definition import WorkflowDefinition, read_workflow
from tests.domain.forms.factories import (
    BRAND,
    DIRECTORY,
    IMAGE,
    NOWHERE,
    STORE,
    contact_form_errors,
    depends,
    field,
    select,
    survey,
    survey_errors,
)
from tests.domain.workflows.factories import action_document, workflow_document

Path = tuple[str | int, ...]

MALFORMED = 1.5
"""Of no type that a document's values have."""

NAMED = "a0000000-0000-4000-8000-000000000001"

SURVEY = survey(
    sendingChannels=["EMAIL", "LINK"],
    publiclyAvailable=True,
    header={"title": "Hello"},
    logo=IMAGE,
    fields=[
        select(
            "a", "Yes", "No", group="g", kind="MULTI_SELECT", allowMinReplies=True, minReplies=2
        ),
        select("b", "Yes", "No", group="g", allowMaxReplies=True, maxReplies=1),
        field("c", "NPS", id=NAMED),
        field("d"),
    ],
    fieldGroups=[{"key": "g", "name": "Group"}, {"key": "h"}],
    fieldDependencies=[
        depends("b", "a", "Yes", id=new_id()),
        depends("c", "b", "No", ("$exists", "true")),
        depends("d", NAMED, "10"),
    ],
    translations={
        "fr": {
            "header": {"title": "Bonjour"},
            "fields": {"a": {"values": ["Oui", "Non"]}, "c": {"label": "Note"}},
            "groups": {"g": {"name": "Groupe"}},
        }
    },
    targets=[
        {"type": "BRAND", "targetId": BRAND},
        {"type": "STORE", "targetId": STORE, "id": new_id(), "newReviewUri": "https://x.example/"},
    ],
    supportEmail={"email": "help@example.com"},
    preRedirect=True,
    preRedirectConfig={"type": "NPS", "threshold": 8, "text": {"color": "#fff"}},
    postRedirect=True,
    postRedirectThreshold=9,
)

WORKFLOW = workflow_document(
    conditions=[
        {"subject": "answer", "field": "a", "operator": "$eq", "value": "x"},
        {
            "operator": "$or",
            "conditions": [
                {"subject": "rating", "operator": "$lte", "value": "6"},
                {"subject": "form", "operator": "$exists", "value": "true"},
            ],
        },
    ],
    actions=[
        action_document(key="a", headers={"X-A": "1"}, metadata={"a": "b"}),
        action_document(key="b", id=new_id(), attempts=3),
    ],
)


def paths_in(value: Any, *path: str | int) -> Iterator[Path]:
    parts: Any = ()
    match value:
        case dict():
            parts = value.items()
        case list():
            parts = enumerate(value)
    for key, part in parts:
        yield (*path, key)
        yield from paths_in(part, *path, key)


def malformed(document: dict[str, Any], paths: list[Path]) -> dict[str, Any]:
    """The document with a malformed value at each path that is not inside another's."""
    spoiled = deepcopy(document)
    for *above, last in sorted(paths, key=len):
        part: Any = spoiled
        for key in above:
            part = part[key] if part != MALFORMED else MALFORMED
        if part != MALFORMED:
            part[last] = MALFORMED
    return spoiled


def told(read: Callable[[], object]) -> list[tuple[str, str]]:
    try:
        read()
    except InvalidInput as error:
        return [(input_error.pointer, input_error.code) for input_error in error.errors]
    return []


def shape_errors(model: type[FormDefinition | WorkflowDefinition], document: Any) -> Any:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(document, extra="forbid")
    return [(input_error.pointer, input_error.code) for input_error in errors_of(caught.value)]


def some_of(document: dict[str, Any]) -> st.SearchStrategy[list[Path]]:
    return st.lists(st.sampled_from(list(paths_in(document))), min_size=1, max_size=4)


@given(some_of(SURVEY))
def test_a_malformed_value_makes_no_rule_of_a_survey_look_broken(paths: list[Path]) -> None:
    document = malformed(SURVEY, paths)
    found = told(lambda: read_survey(document, DIRECTORY))
    assert found == shape_errors(SurveyDefinition, document)


@given(some_of(WORKFLOW))
def test_a_malformed_value_makes_no_rule_of_a_workflow_look_broken(paths: list[Path]) -> None:
    document = malformed(WORKFLOW, paths)
    found = told(lambda: read_workflow(document))
    assert found == shape_errors(WorkflowDefinition, document)


def test_the_documents_that_are_spoiled_are_valid_before() -> None:
    assert told(lambda: read_survey(SURVEY, DIRECTORY)) == []
    assert told(lambda: read_workflow(WORKFLOW)) == []


def test_a_malformed_field_hides_no_cycle_and_no_unknown_field() -> None:
    errors = contact_form_errors(
        fields=[field("a", "SLIDER"), field("b"), field("c")],
        fieldDependencies=[
            depends("b", "c"),
            depends("c", "b"),
            depends("b", "a"),
            depends("a", "nothing"),
        ],
    )
    assert errors == [
        ("/fields/0/type", "not_allowed"),
        ("/fieldDependencies/0/dependsOnField", "cycle"),
        ("/fieldDependencies/1/dependsOnField", "cycle"),
        ("/fieldDependencies/3/dependsOnField", "unknown_reference"),
    ]


def test_a_cycle_through_a_malformed_field_is_told() -> None:
    errors = contact_form_errors(
        fields=[field("a", label=3), field("b")],
        fieldDependencies=[depends("a", "b"), depends("b", "a", operator="$xor")],
    )
    assert errors == [
        ("/fields/0/label", "wrong_type"),
        ("/fieldDependencies/1/operator", "not_allowed"),
        ("/fieldDependencies/0/dependsOnField", "cycle"),
        ("/fieldDependencies/1/dependsOnField", "cycle"),
    ]


@pytest.mark.parametrize(
    "spoiled", [field("a", id="a"), field("x" * 101), {"key": 3, "type": "TEXT"}, "a"]
)
def test_no_field_is_called_unknown_while_a_fields_name_is_malformed(spoiled: Any) -> None:
    errors = contact_form_errors(
        fields=[field("b"), spoiled], fieldDependencies=[depends("b", "a", "1")]
    )
    assert [pointer.startswith("/fields/1") for pointer, _ in errors] == [True]


def test_the_rules_of_a_field_are_judged_beside_its_malformed_value() -> None:
    errors = contact_form_errors(
        name="",
        fields=[select("a", "x", "x", label=3, group="none"), select("a", "y", extra=1)],
        translations={"en": {}, "fr": {"fields": {"b": {}}}},
    )
    assert errors == [
        ("/name", "required"),
        ("/fields/0/label", "wrong_type"),
        ("/fields/1/extra", "unknown_key"),
        ("/fields/1/key", "duplicate"),
        ("/fields/0/group", "unknown_reference"),
        ("/fields/0/values/1", "duplicate"),
        ("/translations/en", "not_allowed"),
        ("/translations/fr/fields/b", "unknown_reference"),
    ]


def test_a_form_without_an_id_or_a_language_is_judged_otherwise() -> None:
    errors = contact_form_errors(
        id=None, language=None, brandId=NOWHERE, fieldDependencies=[depends("a", "a", "1")]
    )
    assert errors == [
        ("/id", "required"),
        ("/language", "required"),
        ("/brandId", "unknown_reference"),
        ("/fieldDependencies/0/field", "unknown_reference"),
        ("/fieldDependencies/0/dependsOnField", "unknown_reference"),
    ]


def test_the_rules_of_a_survey_are_judged_beside_its_malformed_values() -> None:
    errors = survey_errors(
        enabled="yes",
        header={"title": 3},
        targets=[
            {"type": "STORE", "targetId": NOWHERE, "enabled": 1},
            {"type": "SHOP", "targetId": NOWHERE},
        ],
        sendingChannels=["SMS", "SMS"],
        resolicitationDelay=-1,
        preRedirect=True,
        preRedirectConfig={"type": "NPS", "nps": "x"},
        postRedirectThreshold=11,
    )
    assert errors == [
        ("/enabled", "wrong_type"),
        ("/header/title", "wrong_type"),
        ("/targets/0/enabled", "wrong_type"),
        ("/targets/1/type", "not_allowed"),
        ("/preRedirectConfig/nps", "wrong_type"),
        ("/targets/0/targetId", "unknown_reference"),
        ("/targets/1/targetId", "duplicate"),
        ("/sendingChannels/1", "duplicate"),
        ("/resolicitationDelay", "out_of_range"),
        ("/preRedirectConfig/threshold", "required"),
        ("/postRedirectThreshold", "out_of_range"),
    ]


def test_the_rules_of_a_workflow_are_judged_beside_its_malformed_values() -> None:
    document = workflow_document(
        id="7",
        conditions=[{"operator": "$is"}, {"operator": "$or", "conditions": [{"operator": "$eq"}]}],
        actions=[
            action_document(attempts=9, url="ftp://x.example.com/"),
            action_document(description=3, headers={"Host": "x"}),
        ],
    )
    assert told(lambda: read_workflow(document)) == [
        ("/id", "invalid_uuid"),
        ("/conditions/0/operator", "not_allowed"),
        ("/actions/0/attempts", "out_of_range"),
        ("/actions/1/description", "wrong_type"),
        ("/conditions/1/conditions/0/subject", "required"),
        ("/conditions/1/conditions/0/value", "required"),
        ("/actions/1/key", "duplicate"),
        ("/actions/0/url", "invalid_url"),
        ("/actions/1/headers/Host", "not_allowed"),
    ]


def test_a_colour_is_judged_beside_a_malformed_value() -> None:
    errors = contact_form_errors(generalStyle={"titleColor": "red", "fieldRadius": 3})
    assert errors == [
        ("/generalStyle/fieldRadius", "not_allowed"),
        ("/generalStyle/titleColor", "invalid_colour"),
    ]
