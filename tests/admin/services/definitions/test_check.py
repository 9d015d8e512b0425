"""Tests of the validation of all definitions that one ``load`` command reads."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from admin.services.definitions.check import check
from admin.services.definitions.definition import RawDefinition
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.ids import new_id
from chalicelib.domain.workflows.workflow import Workflow
from tests.domain.workflows import factories

ACCOUNT = "acc00000-0000-4000-8000-000000000001"
BRAND = "b0000000-0000-4000-8000-000000000001"
STORE = "50000000-0000-4000-8000-000000000001"
CUSTOMER = "c0000000-0000-4000-8000-000000000001"
NOWHERE = "ffffffff-ffff-4fff-8fff-ffffffffffff"


class EmptyService:
    """A service with one account that has no resources except the given workflows."""

    def __init__(self, stored: Sequence[Workflow] = ()) -> None:
        self.stored = stored

    def account(self, account_id: str) -> Account | None:
        return Account(ACCOUNT, "Account", datetime.now(UTC)) if account_id == ACCOUNT else None

    def directory(self, account_id: str) -> Directory:
        assert account_id == ACCOUNT
        return Directory.of([])

    def ids_by_key(self, account_id: str, kind: str) -> dict[str, str]:
        return {}

    def workflows(self, account_id: str) -> Sequence[Workflow]:
        assert account_id == ACCOUNT
        return self.stored


def brand(**overrides: Any) -> dict[str, Any]:
    return {"kind": "brand", "id": BRAND, "name": "Brand", **overrides}


def store(**overrides: Any) -> dict[str, Any]:
    return {"kind": "store", "id": STORE, "brandId": BRAND, "name": "Store", **overrides}


def customer(**overrides: Any) -> dict[str, Any]:
    return {"kind": "customer", "id": CUSTOMER, "firstName": "Zoé", **overrides}


def contact_form(**overrides: Any) -> dict[str, Any]:
    defaults = {"kind": "contactForm", "id": new_id(), "brandId": BRAND, "name": "Form"}
    return defaults | {"language": "fr", **overrides}


def workflow(workflow_id: str, *action_ids: str) -> dict[str, Any]:
    actions = [
        factories.action_definition(id=action_id, key=str(position))
        for position, action_id in enumerate(action_ids)
    ]
    return {"kind": "workflow", "id": workflow_id, "name": "Workflow", "actions": actions}


def errors_of(*definitions: Any, stored: Sequence[Workflow] = ()) -> list[tuple[int, str, str]]:
    """Validate the definitions.

    Return the definition's index, the pointer and the code of each error.
    """
    raw_definitions = [
        RawDefinition(str(index), content) for index, content in enumerate(definitions)
    ]
    _, problems = check(raw_definitions, ACCOUNT, EmptyService(stored), ())
    return [
        (int(problem.origin), problem.input_error.pointer, problem.input_error.code)
        for problem in problems
    ]


def test_keys_replace_ids_and_references() -> None:
    definitions = [
        {
            "kind": "workflow",
            "id": new_id(),
            "name": "W",
            "actions": [factories.action_definition()],
        },
        {"kind": "survey", "key": "visit", "name": "Visit", "language": "fr"},
        contact_form(id=None, key="contact", brandId="lumen"),
        store(id=None, key="lyon", brandId="lumen"),
        brand(id=None, key="lumen"),
        customer(),
    ]
    definitions[0]["conditions"] = [
        {
            "operator": "$or",
            "conditions": [{"subject": "store", "operator": "$eq", "value": "lyon"}],
        },
        {"subject": "form", "operator": "$in", "value": f"contact,{CUSTOMER}"},
    ]
    definitions[1] |= {
        "publiclyAvailable": True,
        "sendingChannels": ["EMAIL"],
        "targets": [{"type": "STORE", "targetId": "lyon"}, {"type": "BRAND", "targetId": "lumen"}],
    }
    assert errors_of(*definitions) == []
    workflow, survey, form, place, maison, _ = definitions
    assert len({survey["id"], form["id"], place["id"], maison["id"]}) == 4
    assert form["brandId"] == place["brandId"] == maison["id"]
    assert [t["targetId"] for t in survey["targets"]] == [place["id"], maison["id"]]
    group, condition = workflow["conditions"]
    assert group["conditions"][0]["value"] == place["id"]
    assert condition["value"] == f"{form['id']},{CUSTOMER}"


def test_unknown_and_repeated_keys_are_reported_once() -> None:
    condition = {"subject": "survey", "operator": "$eq", "value": "visit"}
    assert errors_of(
        brand(key="a"),
        brand(id=NOWHERE, key="a"),
        store(brandId="b", key="x" * 33),
        workflow(new_id(), new_id()) | {"conditions": [condition]},
    ) == [
        (1, "/key", "duplicate"),
        (2, "/brandId", "unknown_reference"),
        (3, "/conditions/0/value", "unknown_reference"),
        (2, "/key", "invalid"),
    ]
    assert errors_of(brand(key="x" * 32)) == []


def test_schema_errors_of_all_definitions_are_reported_without_rule_errors() -> None:
    assert errors_of(
        brand(name=""),
        store(brandId=NOWHERE, color=7, timeZone="Paris"),
        contact_form(name=3, brandId=NOWHERE, fields=[{"key": "a", "type": "SLIDER"}]),
        {"kind": "workflow", "id": new_id(), "actions": [{"key": "a", "url": "ftp://x.example"}]},
        contact_form(account="mine", id="7"),
    ) == [
        (0, "/name", "required"),
        (1, "/color", "wrong_type"),
        (1, "/timeZone", "invalid"),
        (2, "/name", "wrong_type"),
        (2, "/fields/0/type", "not_allowed"),
        (3, "/name", "required"),
        (4, "/account", "invalid_uuid"),
        (4, "/id", "invalid_uuid"),
    ]


def test_rule_errors_of_all_definitions_are_reported_at_once() -> None:
    workflow = {"kind": "workflow", "id": new_id(), "name": "Workflow"}
    assert errors_of(
        brand(),
        store(brandId=NOWHERE),
        contact_form(
            brandId=NOWHERE,
            fields=[{"key": "b", "type": "SINGLE_SELECT"}],
        ),
        {**workflow, "actions": [{"key": "a", "url": "ftp://x.example"}]},
        brand(),
    ) == [
        (1, "/brandId", "unknown_reference"),
        (2, "/brandId", "unknown_reference"),
        (2, "/fields/0/values", "required"),
        (3, "/actions/0/url", "invalid_url"),
        (4, "/id", "duplicate"),
    ]


@pytest.mark.parametrize(
    "invalid",
    [
        {"name": 3},
        {"id": None},
        {"id": "b1"},
        {"account": "mine"},
        {"account": NOWHERE},
        {"kind": "brnad"},
    ],
)
def test_reference_to_invalid_definition_is_not_reported_as_unknown(invalid: Any) -> None:
    assert {index for index, _, _ in errors_of(brand(**invalid), contact_form())} == {0}


def test_reference_ignores_case_and_surrounding_white_space_of_id() -> None:
    assert errors_of(brand(id=f" {BRAND.upper()} "), contact_form()) == []


def test_action_id_of_other_workflow_is_reported_as_load_rejects_it() -> None:
    first, second, action, other = (new_id() for _ in range(4))
    stored = factories.workflow(id=first, actions=[factories.action_definition(id=action)])
    assert errors_of(workflow(second, action), stored=[stored]) == [
        (0, "/actions/0/id", "duplicate")
    ]
    assert errors_of(workflow(first, action), workflow(second, other, action)) == [
        (1, "/actions/1/id", "duplicate")
    ]
    assert errors_of(workflow(first, action), stored=[stored]) == []
    moved = [workflow(first, other), workflow(second, action)]
    assert errors_of(*moved, stored=[stored]) == []


def test_size_of_form_includes_names_that_the_same_run_defines() -> None:
    fields = [{"key": str(n), "type": "TEXT", "label": "😀" * 445} for n in range(10)]
    form = contact_form(fields=fields)
    assert errors_of(brand(name="B"), form) == []
    assert errors_of(brand(name="😀" * 255), form) == [(1, "", "record_too_large")]
