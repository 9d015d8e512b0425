"""Tests of the content of the demo data. They validate the data without storing it."""

import json
import unicodedata
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import infrastructure.demo.contents
from admin.domain.forms.survey import SurveyDefinition
from admin.services.definitions.check import check
from admin.services.definitions.definition import Definition, Kind
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.customers.addresses import pair_of
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.parsing import parse
from infrastructure.demo.contents import demo_definitions, version_of
from infrastructure.demo.customers import SHOWN_CUSTOMER
from infrastructure.demo.ids import MAIN_ACCOUNT, OTHER_ACCOUNT, demo_id
from infrastructure.demo.purchases import PURCHASE, SHOWN_PURCHASE, id_of


class EmptyService:
    """A service that has only the two demo accounts, without resources."""

    def account(self, account_id: str) -> Account:
        assert account_id in (MAIN_ACCOUNT, OTHER_ACCOUNT)
        return Account(account_id, "Demo", datetime.now(UTC))

    def directory(self, account_id: str) -> Directory:
        return Directory.of([])

    def ids_by_key(self, account_id: str, kind: str) -> dict[str, str]:
        return {}

    def workflows(self, account_id: str) -> tuple[()]:
        return ()


@cache
def validated_definitions() -> list[Definition]:
    loaded = [raw for raw in demo_definitions() if raw.content["kind"] != PURCHASE]
    definitions, problems = check(loaded, None, EmptyService())
    assert [str(problem) for problem in problems] == []
    return definitions


def of_kind(kind: Kind, account: str = MAIN_ACCOUNT) -> list[dict[str, Any]]:
    return [d.content for d in validated_definitions() if (d.kind, d.account_id) == (kind, account)]


def forms() -> list[dict[str, Any]]:
    return [
        form
        for account in (MAIN_ACCOUNT, OTHER_ACCOUNT)
        for kind in (Kind.CONTACT_FORM, Kind.SURVEY)
        for form in of_kind(kind, account)
    ]


def test_demo_data_has_documented_record_counts() -> None:
    contents = [raw.content for raw in demo_definitions()]
    assert Counter(each["kind"] for each in contents if each["account"] == MAIN_ACCOUNT) == {
        Kind.BRAND: 2,
        Kind.STORE: 6,
        Kind.CUSTOMER: 80,
        Kind.CONTACT_FORM: 5,
        Kind.SURVEY: 5,
        PURCHASE: 140,
    }


def test_demo_data_is_deterministic() -> None:
    assert version_of(demo_definitions()) == version_of(demo_definitions())


@pytest.mark.parametrize(
    "script",
    "LATIN ARABIC HEBREW CYRILLIC GREEK CJK HIRAGANA HANGUL DEVANAGARI".split(),
)
def test_demo_customers_include_first_name_in_every_script(script: str) -> None:
    letters = {c for person in of_kind(Kind.CUSTOMER) for c in person["firstName"]}
    assert any(unicodedata.name(c).startswith(script) for c in letters)


def test_demo_forms_use_every_field_type() -> None:
    assert {field["type"] for form in forms() for field in form["fields"]} == set(FieldType)


def test_demo_dependencies_use_every_comparison_operator() -> None:
    used = {
        value["operator"]
        for form in forms()
        for dependency in form.get("fieldDependencies", [])
        for value in dependency["dependsOnFieldValues"]
    }
    assert len(used) == 10


def test_demo_surveys_ask_no_question_twice_and_offer_review_for_every_rating() -> None:
    surveys = [form for form in forms() if "targets" in form and form["enabled"]]
    for survey in surveys:
        asked = Counter(field["type"] for field in survey["fields"])
        if survey["preRedirect"]:
            assert survey["preRedirectConfig"]["threshold"] == 0
            assert survey["preRedirectConfig"]["type"] != "NPS"
        assert asked["NPS"] <= 1
        assert survey["postRedirect"] or survey["preRedirect"]
        assert survey.get("postRedirectThreshold") in (None, 0)


def test_thanks_of_demo_surveys_depend_on_rating() -> None:
    for survey in (form for form in forms() if "targets" in form):
        lowest, *others = survey["thanks"]
        assert lowest["minRating"] == 0
        assert lowest["title"] not in {each["title"] for each in others}


PLAIN_FORMS = {demo_id("contact-form events"), demo_id("contact-form closed")}


def test_demo_has_form_without_images_and_disabled_contact_form() -> None:
    plain, closed = (form for form in forms() if form["id"] in PLAIN_FORMS)
    assert not {"logo", "cover", "footerLogo", "submissionImage"} & plain.keys()
    assert plain.get("enabled", True)
    assert closed["enabled"] is False


def test_complete_demo_forms_set_every_field() -> None:
    for form in forms():
        if form["id"] not in PLAIN_FORMS:
            assert_complete(form)


def assert_complete(form: dict[str, Any]) -> None:
    shared = {"key", "translations", "postRedirectThreshold"}
    shared |= {"solicitationDelay", "solicitationDelayFrom", "reminderDelay", "opensAt", "closesAt"}
    shared |= {"saveTaps", "labels"}
    model = SurveyDefinition if "targets" in form else None
    for name, field in (model.model_fields if model else {}).items():
        if field.alias not in shared:
            assert field.alias in form, (form["name"], name)
    objects = "generalStyle header body footer externalLink submission logo footerLogo cover"
    for key in [*objects.split(), "submissionImage", "description"]:
        assert form[key], (form["name"], key)
    for key in "fields fieldGroups fieldDependencies".split():
        assert form[key], (form["name"], key)
    empty_leaves = [path for path, leaf in leaves(form, "") if leaf in ("", None, [], {})]
    assert empty_leaves == []


def leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        return [leaf for key, item in value.items() for leaf in leaves(item, f"{path}/{key}")]
    if isinstance(value, list) and value:
        return [leaf for n, item in enumerate(value) for leaf in leaves(item, f"{path}/{n}")]
    return [(path, value)]


def test_demo_contact_form_has_required_field() -> None:
    (form,) = [f for f in forms() if f["id"] == demo_id("contact-form lumen")]
    dependent = {dependency["field"] for dependency in form["fieldDependencies"]}
    assert any(f.get("required") and f["key"] not in dependent for f in form["fields"])


def test_demo_surveys_use_every_access_and_redirect_option() -> None:
    surveys = of_kind(Kind.SURVEY)
    assert {survey["publiclyAvailable"] for survey in surveys} == {True, False}
    assert {survey["preRedirectConfig"]["type"] for survey in surveys} == {
        "NPS",
        "CSAT_STAR",
        "CSAT_SMILEY",
        "BINARY",
    }
    assert {survey["enabled"] for survey in surveys} == {True, False}


def test_demo_forms_have_left_to_right_and_right_to_left_translations() -> None:
    assert "ar" in {form["language"] for form in of_kind(Kind.CONTACT_FORM)}
    assert {language for form in forms() for language in form.get("translations", {})} >= {
        "fr",
        "ar",
        "he",
        "ja",
    }


def test_demo_customer_and_purchase_have_tags_and_attributes() -> None:
    customer = of_kind(Kind.CUSTOMER)[0]
    contents = [raw.content for raw in demo_definitions()]
    purchase = next(each for each in contents if each["kind"] == PURCHASE)
    assert (customer["id"], id_of(MAIN_ACCOUNT, purchase)) == (SHOWN_CUSTOMER, SHOWN_PURCHASE)
    assert purchase["customerId"] == SHOWN_CUSTOMER
    assert customer["tags"]
    assert customer["attributes"]
    assert purchase["attributes"]


def test_demo_batch_is_valid_and_contains_repeated_pairs() -> None:
    path = Path(infrastructure.demo.contents.__file__).parent / "customers-batch.json"
    body = json.loads(path.read_text(encoding="utf-8"))
    assert list(body) == ["batch"]
    rows = [parse(row, CustomerBody) for row in body["batch"]]
    pairs = Counter(
        pair for row in rows if (pair := pair_of(row.email, row.phone_number)) is not None
    )
    known = {
        pair_of(person.get("email"), person.get("phoneNumber")) for person in of_kind(Kind.CUSTOMER)
    }
    assert len(rows) == 40
    assert pairs.total() < len(rows)
    assert max(pairs.values()) == 3
    assert len(known & set(pairs)) == 6
