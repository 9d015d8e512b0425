"""Tests of validating workflow definitions and building workflows from valid definitions."""

from typing import Any

import pytest

from admin.domain.workflows.definition import (
    MAX_BODY_BYTES,
    MAX_WORKFLOW_BYTES,
    build_workflow,
    parse_workflow_definition,
)
from chalicelib.domain.errors import InvalidInput, RecordTooLarge
from chalicelib.domain.forms.labels import MAX_LABEL
from chalicelib.domain.ids import new_id
from chalicelib.domain.workflows.workflow import new_execution, raw_body
from tests.domain.forms.factories import BRAND, DIRECTORY, NOWHERE, STORE
from tests.domain.workflows.factories import (
    NOW,
    action_definition,
    feedback,
    workflow,
    workflow_definition,
)

RATED = {"subject": "rating", "operator": "$gt", "value": "8"}


def nested(depth: int) -> dict[str, Any]:
    """Return a group of conditions that contains ``depth`` levels of nested groups."""
    inner = RATED if depth == 1 else nested(depth - 1)
    return {"operator": "$and", "conditions": [inner]}


def errors_of(**document: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInput) as caught:
        workflow(**document)
    return [(input_error.pointer, input_error.code) for input_error in caught.value.errors]


def test_omitted_fields_get_default_values() -> None:
    saved = workflow()
    (action,) = saved.actions
    assert (saved.enabled, saved.conditions, action.attempts) == (True, (), 8)
    assert (action.headers, action.metadata, action.description) == ({}, {}, "")


def test_omitted_action_id_is_derived_from_workflow_and_key() -> None:
    document = workflow_definition()
    first, second = (build_workflow(parse_workflow_definition(document), NOW) for _ in range(2))
    assert first.actions[0].id == second.actions[0].id


def test_replaced_workflow_keeps_its_creation_time() -> None:
    earlier = workflow()
    later = NOW.replace(year=2027)
    saved = build_workflow(
        parse_workflow_definition(workflow_definition(id=earlier.id, name="Later")), later, earlier
    )
    assert (saved.created_at, saved.updated_at[:4]) == (earlier.created_at, "2027")


def test_all_schema_errors_are_reported_without_rule_errors() -> None:
    actions = [action_definition(attempts=9, extra=1), {"key": "x"}, action_definition(key="")]
    assert errors_of(name="", actions=actions, conditions="x") == [
        ("/name", "required"),
        ("/conditions", "wrong_type"),
        ("/actions/0/attempts", "out_of_range"),
        ("/actions/0/extra", "unknown_key"),
        ("/actions/1/url", "required"),
        ("/actions/2/key", "required"),
    ]


def test_all_rule_errors_are_reported_at_once() -> None:
    conditions = [
        {"subject": "rating", "operator": "$lte"},
        {"operator": "$eq", "value": "x"},
        {"subject": "answer", "operator": "$eq", "value": "x"},
        {"subject": "rating", "field": "x", "operator": "$exists", "value": "perhaps"},
        {"operator": "$or"},
        {"operator": "$and", "value": "1", "conditions": [{"subject": "form", "operator": "$eq"}]},
    ]
    actions = [
        action_definition(url="ftp://x.example.com/"),
        action_definition(headers={"a b": "x", "ok": "a\r\nb: c", "X": "1", "x": "2"}),
    ]
    assert errors_of(conditions=conditions, actions=actions) == [
        ("/conditions/0/value", "required"),
        ("/conditions/1/subject", "required"),
        ("/conditions/2/field", "required"),
        ("/conditions/3/field", "not_allowed"),
        ("/conditions/3/value", "not_allowed"),
        ("/conditions/4/conditions", "required"),
        ("/conditions/5/value", "not_allowed"),
        ("/conditions/5/conditions/0/value", "required"),
        ("/actions/1/key", "duplicate"),
        ("/actions/0/url", "invalid_url"),
        ("/actions/1/headers/a b", "not_allowed"),
        ("/actions/1/headers/ok", "not_allowed"),
        ("/actions/1/headers/x", "duplicate"),
    ]


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/",
        "https://user:pass@hooks.example.com/",
        "https://127.0.0.1/",
        "https://[::ffff:169.254.169.254]/",
        "https:///x",
        "hooks.example.com",
        "",
    ],
)
def test_action_url_that_is_not_public_https_is_rejected(url: str) -> None:
    assert errors_of(actions=[action_definition(url=url)]) == [("/actions/0/url", "invalid_url")]


def test_allow_private_accepts_private_http_url() -> None:
    url = "http://127.0.0.1:8080/hook"
    document = workflow_definition(actions=[action_definition(url=url)])
    assert parse_workflow_definition(document, allow_private=True).actions[0].url == url


def test_webhook_body_over_its_size_limit_is_rejected() -> None:
    def document(length: int) -> list[Any]:
        return [action_definition(metadata={"note": "x" * length})]

    (action,) = workflow(actions=document(0)).actions
    remaining = MAX_BODY_BYTES - len(
        raw_body(workflow(actions=document(0)), action, new_id(), new_id())
    )
    workflow(actions=document(remaining))
    assert errors_of(actions=document(remaining + 1)) == [("/actions/0/metadata", "too_large")]


def test_placeholder_counts_with_its_longest_value() -> None:
    def document(length: int) -> list[Any]:
        return [action_definition(metadata={"note": "{table}" + "x" * length})]

    (action,) = workflow(actions=document(0)).actions
    empty = raw_body(workflow(actions=document(0)), action, new_id(), new_id())
    longest = feedback(labels={"table": "\0" * MAX_LABEL})
    remaining = MAX_BODY_BYTES - len(empty) - 6 * MAX_LABEL
    saved = workflow(actions=document(remaining))
    assert len(new_execution(saved, saved.actions[0], longest, NOW).body) == MAX_BODY_BYTES
    assert errors_of(actions=document(remaining + 1)) == [("/actions/0/metadata", "too_large")]


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [("{rating} {store} {form} {language}", True), ("{table}", True), ("{{email}", True),
     ("{email}", False), ("{Rating}", False), ("{answer}", False), ('{"a": 1}', True)],
)  # fmt: skip
def test_unknown_placeholder_is_rejected(text: str, is_valid: bool) -> None:
    document = workflow_definition(actions=[action_definition(metadata={"a/b": text})])
    if is_valid:
        parse_workflow_definition(document, labels=lambda: ["table"])
        return
    with pytest.raises(InvalidInput) as caught:
        parse_workflow_definition(document, labels=lambda: ["table"])
    (error,) = caught.value.errors
    assert (error.pointer, error.code) == ("/actions/0/metadata/a~1b", "unknown_placeholder")
    assert "{language}, {table}, or {{" in error.detail


def test_action_id_used_by_another_workflow_is_rejected() -> None:
    other = workflow()
    document = workflow_definition(actions=[action_definition(id=other.actions[0].id)])
    with pytest.raises(InvalidInput) as caught:
        parse_workflow_definition(document, others=[other])
    assert [input_error.pointer for input_error in caught.value.errors] == ["/actions/0/id"]


def size_of(*actions: dict[str, Any]) -> int:
    return len(workflow(actions=list(actions)).model_dump_json().encode())


def test_workflow_larger_than_350_000_bytes_is_rejected() -> None:
    def actions(last: int) -> list[dict[str, Any]]:
        texts = {"a": 150_000, "b": 150_000, "c": last}
        return [action_definition(key=k, metadata={"text": "x" * n}) for k, n in texts.items()]

    remaining = MAX_WORKFLOW_BYTES - size_of(*actions(1)) + 1
    assert size_of(*actions(remaining)) == MAX_WORKFLOW_BYTES
    with pytest.raises(RecordTooLarge):
        size_of(*actions(remaining + 1))


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"actions": [action_definition(key=f"a{n}") for n in range(21)]}, "/actions"),
        ({"conditions": [RATED] * 51}, "/conditions"),
        ({"actions": [action_definition(metadata=dict.fromkeys(map(str, range(501)), "v"))]},
         "/actions/0/metadata"),
        ({"actions": [action_definition(headers={f"x-{n}": "v" for n in range(51)})]},
         "/actions/0/headers"),
        ({"conditions": [nested(6)]}, "/conditions/0" * 6 + "/conditions"),
    ],
)  # fmt: skip
def test_definition_over_maximum_count_or_depth_is_rejected(
    document: dict[str, Any], pointer: str
) -> None:
    assert [raised for raised, _ in errors_of(**document)] == [pointer]


@pytest.mark.parametrize("invalid", [{}, {"name": 1}])
def test_deeply_nested_definition_is_rejected(invalid: dict[str, Any]) -> None:
    assert ("", "too_deep") in errors_of(conditions=[nested(400)], **invalid)


@pytest.mark.parametrize(
    ("subject", "operator", "value", "input_error"),
    [
        ("rating", "$lte", "four", "not_allowed"),
        ("rating", "$in", "1,two", "not_allowed"),
        ("rating", "$in", "1,2", None),
        ("rating", "$lte", "4.5", None),
        ("language", "$eq", "french", "not_allowed"),
        ("language", "$in", "fr,en", None),
        ("source", "$eq", "pigeon", "not_allowed"),
        ("source", "$contains", "urve", None),
        ("form", "$eq", "abc", "invalid_uuid"),
        ("survey", "$in", f"{NOWHERE},abc", "invalid_uuid"),
        ("survey", "$in", f'["{NOWHERE}"]', None),
        ("brand", "$eq", BRAND, None),
        ("brand", "$eq", NOWHERE, "unknown_reference"),
        ("store", "$nin", f"{STORE},{NOWHERE}", "unknown_reference"),
        ("store", "$eq", STORE.upper(), None),
        ("store", "$exists", "true", None),
    ],
)
def test_condition_value_that_is_invalid_for_subject_is_rejected(
    subject: str, operator: str, value: str, input_error: str | None
) -> None:
    condition = {"subject": subject, "operator": operator, "value": value}
    document = workflow_definition(conditions=[{"operator": "$and", "conditions": [condition]}])
    if input_error is None:
        saved = build_workflow(parse_workflow_definition(document, DIRECTORY), NOW)
        assert saved.conditions[0].conditions[0].value in (value, value.lower())
        return
    with pytest.raises(InvalidInput) as raised:
        parse_workflow_definition(document, DIRECTORY)
    assert [(error.pointer, error.code) for error in raised.value.errors] == [
        ("/conditions/0/conditions/0/value", input_error)
    ]


def test_ids_in_conditions_are_case_insensitive() -> None:
    condition = {"subject": "store", "operator": "$eq", "value": STORE.upper()}
    document = workflow_definition(conditions=[condition])
    (saved,) = build_workflow(parse_workflow_definition(document, DIRECTORY), NOW).conditions
    assert saved.matches(feedback(store_id=STORE))


def test_definition_at_maximum_counts_and_depth_is_accepted() -> None:
    largest = {
        "metadata": {f"k{n}": "v" for n in range(500)},
        "headers": {f"x-{n}": "v" for n in range(50)},
    }
    actions = [action_definition(key=f"a{n}") for n in range(19)]
    saved = workflow(
        actions=[*actions, action_definition(**largest)], conditions=[*[RATED] * 49, nested(5)]
    )
    assert (len(saved.actions), len(saved.conditions)) == (20, 50)
