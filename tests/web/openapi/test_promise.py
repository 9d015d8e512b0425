"""Test that the OpenAPI document keeps the promise of the last release."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from chalicelib.web.openapi.routes import DOCUMENT as FILE
from tests.web.openapi.promise import KEPT, Json, broken_promises, promise_of, text_of

DOCUMENT = json.loads(FILE.read_text(encoding="utf-8"))
Change = Callable[[Json], Any]


def test_document_keeps_the_promise_of_the_last_release() -> None:
    """Change the document so that nothing is broken.

    If the year of a notice has ended, keep it: ``python -m tests.web.openapi.promise``.
    """
    assert broken_promises(json.loads(KEPT.read_text()), promise_of(DOCUMENT)) == []


def test_kept_promise_is_read_as_it_was_written() -> None:
    promise = promise_of(DOCUMENT)
    assert json.loads(text_of(promise)) == promise


def operation(document: Json, name: str) -> Any:
    method, path = name.split()
    return document["paths"][path][method.lower()]


def schema(document: Json, name: str) -> Any:
    return document["components"]["schemas"][name]


def field(document: Json, name: str) -> Any:
    parent, name = name.split(".")
    return schema(document, parent)["properties"][name]


def with_key(name: str, required: bool) -> Json:
    return {"in": "query", "name": name, "required": required, "schema": {"type": "string"}}


def move(responses: Json, old: str, new: str) -> None:
    responses[new] = responses.pop(old)


BREAKS: dict[str, tuple[Change, str]] = {
    "operation removed": (
        lambda d: d["paths"]["/partners/customer"].pop("get"),
        "GET /partners/customer: removed",
    ),
    "operation renamed": (
        lambda d: operation(d, "GET /partners/customer").update(operationId="readCustomer"),
        "GET /partners/customer.operationId: const changed",
    ),
    "parameter removed": (
        lambda d: operation(d, "GET /partners/customer")["parameters"].clear(),
        "GET /partners/customer.query id: removed",
    ),
    "parameter newly required": (
        lambda d: operation(d, "GET /partners/account")["parameters"].append(with_key("x", True)),
        "GET /partners/account.query x: required",
    ),
    "property of response removed": (
        lambda d: schema(d, "Tag")["properties"].pop("color"),
        "Tag.color: removed",
    ),
    "property of request removed": (
        lambda d: schema(d, "CustomerBody")["properties"].pop("company"),
        "CustomerBody.company: removed",
    ),
    "property of response not always present": (
        lambda d: schema(d, "Tag")["required"].remove("color"),
        "Tag.color: not always present",
    ),
    "header of webhook removed": (
        lambda d: d["components"]["pathItems"]["workflowAction"]["post"]["parameters"].pop(0),
        "workflowAction.header X-Service-Webhook-Timestamp: removed",
    ),
    "enum value removed": (
        lambda d: schema(d, "DataSource")["enum"].remove("Site"),
        "DataSource: value removed",
    ),
    "field of request newly required": (
        lambda d: schema(d, "CustomerBody").setdefault("required", []).append("email"),
        "CustomerBody.email: required",
    ),
    "body newly required": (
        lambda d: operation(d, "POST /partners/customer/list")["requestBody"].update(required=True),
        "POST /partners/customer/list.body application/json: required",
    ),
    "type of request narrowed": (
        lambda d: field(d, "CustomerBody.company").update(type="string"),
        "CustomerBody.company: type ['null', 'string'] is ['string']",
    ),
    "choice of request narrowed": (
        lambda d: field(d, "CustomerBody.language")["anyOf"].pop(),
        "CustomerBody.language: type ['null'] is ['string']",
    ),
    "type of response narrowed": (
        lambda d: field(d, "Tag.color").update(type="string"),
        "Tag.color: type ['null', 'string'] is ['string']",
    ),
    "type of response widened": (
        lambda d: field(d, "Tag.tag").update(type=["string", "null"]),
        "Tag.tag: type ['string'] is ['null', 'string']",
    ),
    "choice of response widened": (
        lambda d: field(d, "PartnerFeedback.brand")["anyOf"].append({"type": "string"}),
        "PartnerFeedback.brand: widened",
    ),
    "limit of request narrowed": (
        lambda d: field(d, "CustomerBody.company").update(maxLength=254),
        "CustomerBody.company: maxLength narrowed to 254",
    ),
    "enum of request added": (
        lambda d: field(d, "CustomerBody.company").update(enum=["Lumen"]),
        "CustomerBody.company: values changed",
    ),
    "items of response changed": (
        lambda d: field(d, "PartnerCustomer.tags").update(items={"type": "string"}),
        "PartnerCustomer.tags[]: type ['object'] is ['string']",
    ),
    "status changed": (
        lambda d: move(operation(d, "POST /partners/customer")["responses"], "201", "200"),
        "POST /partners/customer.201 application/json: removed",
    ),
    "status without body changed": (
        lambda d: move(operation(d, "GET /s/{code}")["responses"], "302", "303"),
        "GET /s/{code}.302: removed",
    ),
}

ADDITIONS: dict[str, Change] = {
    "operation": lambda d: d["paths"].update({"/x": deepcopy(d["paths"]["/partners/account"])}),
    "optional parameter": lambda d: operation(d, "GET /partners/account")["parameters"].append(
        with_key("x", False)
    ),
    "property of response": lambda d: schema(d, "Tag").update(
        properties=schema(d, "Tag")["properties"] | {"x": {"type": "string"}},
        required=[*schema(d, "Tag")["required"], "x"],
    ),
    "optional field of request": lambda d: schema(d, "CustomerBody")["properties"].update(
        x={"type": "string"}
    ),
    "enum value": lambda d: schema(d, "DataSource")["enum"].append("Other"),
    "type of request": lambda d: field(d, "CustomerBody.company").update(
        type=["string", "null", "number"]
    ),
    "wider limit of request": lambda d: field(d, "CustomerBody.company").update(maxLength=256),
    "no limit of request": lambda d: field(d, "CustomerBody.company").pop("maxLength"),
    "status": lambda d: operation(d, "GET /partners/account")["responses"].update(
        {"418": {"description": ""}}
    ),
    "description": lambda d: field(d, "Tag.color").update(description="Colour."),
}


@pytest.mark.parametrize("name", BREAKS)
def test_change_that_breaks_programs_of_clients_is_found(name: str) -> None:
    change, expected = BREAKS[name]
    changed = deepcopy(DOCUMENT)
    change(changed)
    assert expected in broken_promises(promise_of(DOCUMENT), promise_of(changed))


@pytest.mark.parametrize("name", ADDITIONS)
def test_addition_breaks_nothing(name: str) -> None:
    changed = deepcopy(DOCUMENT)
    ADDITIONS[name](changed)
    assert changed != DOCUMENT
    assert broken_promises(promise_of(DOCUMENT), promise_of(changed)) == []
