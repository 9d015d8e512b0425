"""Endpoints 1 to 6: what is read back, by whom, and in which shape."""

import json

import pytest
from chalice.test import Client

from chalicelib.domain.customers.platforms import IDENTIFIERS
from chalicelib.domain.ids import new_id
from tests.web.one_of_each import Loaded
from tests.web.partner_client import new_partner

KINDS = ["purchase", "customer", "contact form", "survey"]


@pytest.mark.parametrize("kind", KINDS)
def test_another_account_gets_the_same_answer_as_for_nothing(
    client: Client, loaded: Loaded, kind: str
) -> None:
    path = loaded.paths[kind]
    nowhere = f"{path.partition('=')[0]}={new_id()}"
    other = new_partner(client)
    answers = [other.get(path), other.get(nowhere)]
    assert loaded.partner.get(path).status == 200
    assert [answer.status for answer in answers] == [404, 404]
    assert answers[0].json["detail"] == answers[1].json["detail"]
    assert kind in answers[0].json["detail"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_id_may_be_in_capitals_and_is_answered_in_lower_case(loaded: Loaded, kind: str) -> None:
    route, _, identifier = loaded.paths[kind].partition("=")
    answer = loaded.partner.get(f"{route}={identifier.upper()}")
    assert (answer.status, answer.json["id"]) == (200, identifier)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "bad", ["", "x", "{%s}", "urn:uuid:%s", "0" * 32, "00000000-0000-0000-0000-00000000000g"]
)
def test_what_is_no_id_is_refused(loaded: Loaded, kind: str, bad: str) -> None:
    route, _, identifier = loaded.paths[kind].partition("=")
    value = bad.replace("%s", identifier)
    assert loaded.partner.get(f"{route}={value}").errors == [("?id", "invalid_uuid")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_id_is_refused_and_other_parameters_are_ignored(
    loaded: Loaded, kind: str
) -> None:
    route = loaded.paths[kind].partition("?")[0]
    assert loaded.partner.get(f"{route}?limit=3").errors == [("?id", "required")]
    assert loaded.partner.get(f"{loaded.paths[kind]}&more=1").status == 200


def test_a_purchase_shows_its_customer_and_its_store_as_they_are_now(loaded: Loaded) -> None:
    purchase = loaded.partner.get(loaded.paths["purchase"]).json
    customer = loaded.partner.get(loaded.paths["customer"]).json
    assert purchase["customer"] == customer
    assert (customer["type"], customer["purchaseCount"]) == ("Purchaser", 1)
    assert (purchase["storeId"], purchase["storeName"]) == (loaded.store_id, "Lyon Bellecour")
    assert purchase["date"] == purchase["startDate"] == "2026-11-18T18:30:00.000Z"
    assert (purchase["metadata"], purchase["attributes"]) == ({}, [])


def test_a_customer_has_every_key_and_null_only_where_nullable(loaded: Loaded) -> None:
    customer = loaded.partner.get(loaded.paths["customer"]).json
    assert "language" not in customer
    nulls = {name for name, value in customer.items() if value is None}
    assert nulls == {
        "description", "company", "phoneNumber", "civility", "averageFeedbackRating", *IDENTIFIERS
    }  # fmt: skip
    assert customer["displayName"] == "Zoé Martin"
    assert (customer["dataSources"], customer["metadata"]) == (["Import", "Site"], {})


def test_a_form_shows_its_brand_and_a_survey_its_targets_by_name(loaded: Loaded) -> None:
    form = loaded.partner.get(loaded.paths["contact form"]).json
    survey = loaded.partner.get(loaded.paths["survey"]).json
    assert (form["brandId"], form["brandName"]) == (loaded.brand_id, "Maison Lumen")
    assert form["submissionCount"] == 0
    assert [t["targetName"] for t in survey["targets"]] == ["Lyon Bellecour"]


@pytest.mark.parametrize("kind", ["contact-form", "survey", "customer"])
def test_a_list_holds_what_is_read_one_by_one(loaded: Loaded, kind: str) -> None:
    page = loaded.partner.post(f"/partners/{kind}/list", {}).json
    one = loaded.partner.get(loaded.paths[kind.replace("-", " ")]).json
    assert page["items"] == [one]
    assert page["meta"]["totalItems"] == 1


def test_answers_with_customers_data_are_kept_by_nobody(loaded: Loaded) -> None:
    for path in loaded.paths.values():
        assert loaded.partner.get(path).headers["cache-control"] == "no-store"


def test_a_bug_says_nothing_of_what_is_inside(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr("chalicelib.services.customers.read.read_customer", broken)
    answer = loaded.partner.get(loaded.paths["customer"])
    assert answer.status == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "hunter2" not in json.dumps(answer.json)


def test_a_method_that_a_path_does_not_take_is_a_problem_too(loaded: Loaded) -> None:
    answer = loaded.partner.post("/partners/purchase", {})
    assert answer.status == 405
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["allow"] == "GET"
