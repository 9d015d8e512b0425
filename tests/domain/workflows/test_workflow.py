"""Tests of the conditions of a workflow and of the body of its webhooks."""

import json
from typing import Any

import pytest

from chalicelib.domain.forms.wording import Answer
from chalicelib.domain.ids import derived_id
from chalicelib.domain.workflows.workflow import (
    example_body,
    new_execution,
    raw_body,
    reactions,
)
from tests.domain.workflows.factories import NOW, action_definition, feedback, workflow

FORM, BRAND, STORE, FIELD = (derived_id(name) for name in ("form", "brand", "store", "field"))


def is_started(conditions: list[Any], operator: str = "$and", **fields: Any) -> bool:
    submitted = {
        "kind": "SURVEY",
        "form_id": FORM,
        "brand_id": BRAND,
        "store_id": STORE,
        "rating": 3,
        "answers": (
            Answer(field_id=FIELD, key="what", type="MULTI_SELECT", values=["Food", "Price"]),
        ),
    }
    candidate = workflow(conditions=conditions, operator=operator)
    return candidate.reacts_to(feedback(**(submitted | fields)))


@pytest.mark.parametrize(
    ("subject", "operator", "value", "expected"),
    [
        ("rating", "$lte", "6", True),
        ("rating", "$gt", "3", False),
        ("rating", "$in", "1,2,3", True),
        ("rating", "$exists", "true", True),
        ("survey", "$eq", FORM, True),
        ("form", "$eq", FORM, False),
        ("form", "$exists", "false", True),
        ("brand", "$eq", BRAND, True),
        ("brand", "$ne", BRAND, False),
        ("store", "$in", f"{BRAND},{STORE}", True),
        ("store", "$nin", STORE, False),
        ("language", "$eq", "fr", True),
        ("source", "$eq", "Survey", True),
        ("source", "$contains", "urv", True),
    ],
)
def test_condition_compares_its_subject_with_value(
    subject: str, operator: str, value: str, expected: bool
) -> None:
    condition = {"subject": subject, "operator": operator, "value": value}
    assert is_started([condition]) is expected


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [("$eq", "12", True), ("$gt", "12", False), ("$exists", "true", True), ("$in", "1,12", True)],
)
def test_label_condition_compares_label_of_link(operator: str, value: str, expected: bool) -> None:
    condition = {"subject": "label", "field": "table", "operator": operator, "value": value}
    assert is_started([condition], labels={"table": "12"}) is expected
    assert not is_started([condition], labels={"campaign": "12"})


@pytest.mark.parametrize("field", ["what", FIELD])
def test_answer_condition_selects_field_by_key_or_id(field: str) -> None:
    condition = {"subject": "answer", "field": field, "operator": "$eq", "value": "Price"}
    assert is_started([condition])
    assert not is_started([condition], answers=())


def test_rating_comparison_is_false_for_feedback_without_rating() -> None:
    assert not is_started([{"subject": "rating", "operator": "$lt", "value": "9"}], rating=None)
    assert is_started([{"subject": "rating", "operator": "$exists", "value": "false"}], rating=None)


def test_operator_combines_nested_conditions() -> None:
    yes = {"subject": "rating", "operator": "$eq", "value": "3"}
    no = {"subject": "rating", "operator": "$eq", "value": "4"}
    assert not is_started([yes, no])
    assert is_started([yes, no], "$or")
    assert is_started([yes, {"operator": "$or", "conditions": [no, yes]}])
    assert not is_started([{"operator": "$and", "conditions": [no, yes]}, no], "$or")


def test_workflow_without_conditions_starts_for_all_feedback_unless_disabled() -> None:
    actions = [action_definition(key="a"), action_definition(key="b")]
    on, off = workflow(actions=actions), workflow(enabled=False)
    started = list(reactions([off, on], feedback()))
    assert [(candidate.id, action.key) for candidate, action in started] == [
        (on.id, "a"),
        (on.id, "b"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{rating}/10 at {store}", f"9/10 at {STORE}"),
        ("{form} {language}", f"{FORM} fr"),
        ("{table}{table}", "1212"),
        ("[{gone}]", "[]"),
        ("{{rating} {{{rating}", "{rating} {9"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ("{rating {} }", "{rating {} }"),
    ],
)
def test_placeholders_of_metadata_are_filled(text: str, expected: str) -> None:
    started = workflow(actions=[action_definition(metadata={"{rating}": text})])
    submitted = feedback(form_id=FORM, store_id=STORE, rating=9, labels={"table": "12"})
    execution = new_execution(started, started.actions[0], submitted, NOW)
    assert json.loads(execution.body)["metadata"] == {"{rating}": expected}


def test_placeholder_without_value_is_empty() -> None:
    metadata = {"all": "{rating}{store}{table}", "language": "{language}"}
    started = workflow(actions=[action_definition(metadata=metadata)])
    submitted = feedback(rating=None, store_id=None)
    execution = new_execution(started, started.actions[0], submitted, NOW)
    assert json.loads(execution.body)["metadata"] == {"all": "", "language": "fr"}
    assert json.loads(example_body(started, started.actions[0]))["metadata"] == {
        "all": "",
        "language": "",
    }


def test_value_with_placeholder_is_not_filled_again() -> None:
    started = workflow(actions=[action_definition(metadata={"x": "{campaign}"})])
    submitted = feedback(rating=9, labels={"campaign": "{rating}"})
    execution = new_execution(started, started.actions[0], submitted, NOW)
    assert json.loads(execution.body)["metadata"] == {"x": "{rating}"}


def test_webhook_body_matches_contract() -> None:
    candidate = workflow(
        name="Élan", actions=[action_definition(description="d", metadata={"k": "é\n€"})]
    )
    submitted = feedback()
    body = raw_body(candidate, candidate.actions[0], submitted.id, submitted.context_id)
    assert json.loads(body) == {
        "event": "workflow.action.webhook",
        "workflow": {"id": candidate.id, "name": "Élan"},
        "action": {"id": candidate.actions[0].id, "key": "crm", "description": "d"},
        "feedback": {"id": submitted.id, "contextId": submitted.context_id},
        "metadata": {"k": "é\n€"},
    }
    assert '"name":"Élan"'.encode() in body
