"""Tests of the endpoints that read one resource: responses, access control and errors."""

import json
from typing import Any

import pytest
from chalice.test import Client

from chalicelib.domain.customers.platforms import IDENTIFIERS
from chalicelib.domain.ids import new_id
from tests.aws.requests import Request, responding
from tests.web.loaded_account import LoadedAccount
from tests.web.partner_client import new_partner

KINDS = ["purchase", "customer", "contact form", "survey"]


@pytest.mark.parametrize("kind", KINDS)
def test_record_of_another_account_is_not_found(
    client: Client, loaded: LoadedAccount, kind: str
) -> None:
    path = loaded.paths[kind]
    unknown_path = f"{path.partition('=')[0]}={new_id()}"
    other = new_partner(client)
    responses = [other.get(path), other.get(unknown_path)]
    assert loaded.partner.get(path).status == 200
    assert [response.status for response in responses] == [404, 404]
    assert responses[0].json["detail"] == responses[1].json["detail"]
    assert kind in responses[0].json["detail"]


@pytest.mark.parametrize("kind", KINDS)
def test_upper_case_id_is_accepted_and_returned_in_lower_case(
    loaded: LoadedAccount, kind: str
) -> None:
    route, _, identifier = loaded.paths[kind].partition("=")
    response = loaded.partner.get(f"{route}={identifier.upper()}")
    assert (response.status, response.json["id"]) == (200, identifier)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "invalid_id", ["", "x", "{%s}", "urn:uuid:%s", "0" * 32, "00000000-0000-0000-0000-00000000000g"]
)
def test_invalid_id_is_rejected(loaded: LoadedAccount, kind: str, invalid_id: str) -> None:
    route, _, identifier = loaded.paths[kind].partition("=")
    value = invalid_id.replace("%s", identifier)
    assert loaded.partner.get(f"{route}={value}").errors == [("?id", "invalid_uuid")]


@pytest.mark.parametrize("kind", KINDS)
def test_missing_id_is_rejected_and_unknown_parameters_are_ignored(
    loaded: LoadedAccount, kind: str
) -> None:
    route = loaded.paths[kind].partition("?")[0]
    assert loaded.partner.get(f"{route}?limit=3").errors == [("?id", "required")]
    assert loaded.partner.get(f"{loaded.paths[kind]}&more=1").status == 200


def test_purchase_contains_current_data_of_customer_and_store(loaded: LoadedAccount) -> None:
    purchase = loaded.partner.get(loaded.paths["purchase"]).json
    customer = loaded.partner.get(loaded.paths["customer"]).json
    assert purchase["customer"] == customer
    assert (customer["type"], customer["purchaseCount"]) == ("Purchaser", 1)
    assert (purchase["storeId"], purchase["storeName"]) == (loaded.store_id, "Lyon Bellecour")
    assert purchase["date"] == purchase["startDate"] == "2026-11-18T18:30:00.000Z"
    assert (purchase["metadata"], purchase["attributes"]) == ({}, [])


def test_customer_contains_every_field_and_null_only_in_nullable_fields(
    loaded: LoadedAccount,
) -> None:
    customer = loaded.partner.get(loaded.paths["customer"]).json
    assert "language" not in customer
    nulls = {name for name, value in customer.items() if value is None}
    assert nulls == {
        "description", "company", "phoneNumber", "civility", "averageFeedbackRating", *IDENTIFIERS
    }  # fmt: skip
    assert customer["displayName"] == "Zoé Martin"
    assert (customer["dataSources"], customer["metadata"]) == (["Import", "Site"], {})


def test_forms_contain_names_of_brand_and_targets(loaded: LoadedAccount) -> None:
    form = loaded.partner.get(loaded.paths["contact form"]).json
    survey = loaded.partner.get(loaded.paths["survey"]).json
    assert (form["brandId"], form["brandName"]) == (loaded.brand_id, "Maison Lumen")
    assert form["submissionCount"] == 0
    assert [t["targetName"] for t in survey["targets"]] == ["Lyon Bellecour"]


@pytest.mark.parametrize("kind", ["contact-form", "survey", "customer"])
def test_resource_in_list_equals_resource_read_by_id(loaded: LoadedAccount, kind: str) -> None:
    page = loaded.partner.post(f"/partners/{kind}/list", {}).json
    single_read = loaded.partner.get(loaded.paths[kind.replace("-", " ")]).json
    assert page["items"] == [single_read]
    assert page["meta"]["totalItems"] == 1


def test_partner_responses_are_not_cacheable(loaded: LoadedAccount) -> None:
    for path in loaded.paths.values():
        assert loaded.partner.get(path).headers["cache-control"] == "no-store"


def test_response_after_unhandled_exception_reveals_no_details(
    loaded: LoadedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr("chalicelib.services.customers.read.read_customer", broken)
    response = loaded.partner.get(loaded.paths["customer"])
    assert response.status == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert "hunter2" not in json.dumps(response.json)


def test_unsupported_method_returns_problem_details(loaded: LoadedAccount) -> None:
    response = loaded.partner.post("/partners/survey", {})
    assert response.status == 405
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["allow"] == "GET"


@pytest.mark.parametrize("kind", KINDS)
def test_requests_by_id_use_consistent_reads(loaded: LoadedAccount, kind: str) -> None:
    consistent: list[bool] = []

    def respond(request: Request) -> Any:
        tables = [request.arguments, *request.arguments.get("RequestItems", {}).values()]
        consistent.append(any(table.get("ConsistentRead") for table in tables))
        return request.send()

    assert loaded.partner.get(loaded.paths[kind]).status == 200
    with responding(respond):
        assert loaded.partner.get(loaded.paths[kind]).status == 200
    assert set(consistent) == {True}
