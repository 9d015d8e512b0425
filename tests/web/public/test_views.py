"""Endpoints 10 and 12: what end users are shown, by whom it may be kept, what it costs."""

import pytest
from chalice.test import Client

from chalicelib.aws_calls import counted_calls
from chalicelib.domain.ids import new_id
from chalicelib.services import caching as cached
from chalicelib.services.accounts.save_places import save_store
from tests.domain.forms.factories import NOWHERE
from tests.web.loading import store_document
from tests.web.opened import (
    CONTACT,
    REVIEW_PAGE,
    SUBMIT_CONTACT,
    SUBMIT_SURVEY,
    SURVEY,
    Opened,
    open_account,
)
from tests.web.public.respondent import EndUser

USER = EndUser()


@pytest.fixture(scope="module")
def opened(client: Client) -> Opened:
    return open_account()


def test_a_contact_form_is_shown_to_anybody(opened: Opened) -> None:
    answer = USER.get(f"{CONTACT}?id={opened.contact_form_id.upper()}")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json["id"] == opened.contact_form_id
    assert answer.json["brandName"] == ["Maison Lumen"]
    assert [store["id"] for store in answer.json["storeList"]] == [opened.store_id]


def test_a_disabled_form_is_shown_too(client: Client) -> None:
    opened = open_account()
    opened.contact_form(enabled=False)
    opened.survey(enabled=False)
    form = USER.get(f"{CONTACT}?id={opened.contact_form_id}")
    survey = USER.get(f"{SURVEY}?survey={opened.survey_id}")
    assert (form.status, form.json["enabled"]) == (200, False)
    assert (survey.status, survey.json["enabled"]) == (200, False)


def test_a_public_survey_is_shown_for_a_store_or_a_brand(opened: Opened) -> None:
    path = f"{SURVEY}?survey={opened.survey_id}"
    alone, at_store, at_brand = (
        USER.get(path + more).json
        for more in ("", f"&store={opened.store_id}", f"&brand={opened.brand_id}")
    )
    assert (alone["store"], alone["brand"], alone["externalUrl"]) == (None, None, "")
    assert at_store["store"]["id"] == opened.store_id
    assert at_store["brand"]["id"] == opened.brand_id
    assert at_store["externalUrl"] == REVIEW_PAGE
    assert (at_brand["store"], at_brand["brand"]["id"]) == (None, opened.brand_id)
    assert {view["sendMode"] for view in (alone, at_store, at_brand)} == {"LINK"}
    assert alone["order"] == ""


@pytest.mark.parametrize("name", ["store", "brand"])
def test_places_of_nobody_or_of_another_account_are_refused(opened: Opened, name: str) -> None:
    other = open_account()
    for place in (new_id(), getattr(other, f"{name}_id")):
        answer = USER.get(f"{SURVEY}?survey={opened.survey_id}&{name}={place}")
        assert answer.errors == [(f"?{name}", "unknown_reference")]


def test_a_private_survey_is_shown_to_who_has_a_tracker(opened: Opened) -> None:
    path = f"{SURVEY}?survey={opened.private_survey_id}"
    assert USER.get(path).status == 403
    tracker = opened.tracker(externalId="A-20413")
    view = USER.get(f"{path}&tracker={tracker.upper()}").json
    assert (view["order"], view["sendMode"]) == ("A-20413", "SMS")
    assert (view["store"]["id"], view["brand"]["id"]) == (opened.store_id, opened.brand_id)
    assert view["externalUrl"] == REVIEW_PAGE


def test_a_tracker_that_is_unknown_or_of_another_survey_is_not_found(opened: Opened) -> None:
    path = f"{SURVEY}?survey={opened.private_survey_id}&tracker="
    of_another = opened.tracker(opened.survey_id)
    assert [USER.get(path + new_id()).status, USER.get(path + of_another).status] == [404, 404]


@pytest.mark.parametrize(
    ("path", "errors"),
    [
        (CONTACT, [("?id", "required")]),
        (f"{CONTACT}?id=", [("?id", "invalid_uuid")]),
        (f"{CONTACT}?id=x", [("?id", "invalid_uuid")]),
        (SURVEY, [("?survey", "required")]),
        (f"{SURVEY}?survey={NOWHERE}&tracker=x", [("?tracker", "invalid_uuid")]),
        (f"{SURVEY}?survey={NOWHERE}&store=x", [("?store", "invalid_uuid")]),
        (f"{SURVEY}?survey={NOWHERE}&brand=x", [("?brand", "invalid_uuid")]),
        (
            f"{SURVEY}?tracker=x&store=&brand=x",
            [
                ("?survey", "required"),
                ("?tracker", "invalid_uuid"),
                ("?brand", "invalid_uuid"),
            ],
        ),
    ],
)
def test_bad_parameters_are_refused(
    opened: Opened, path: str, errors: list[tuple[str, str]]
) -> None:
    assert USER.get(path).errors == errors


def test_empty_and_unknown_parameters_are_ignored(opened: Opened) -> None:
    path = f"{SURVEY}?survey={opened.survey_id}&tracker=&store=&brand=&language=&more=1"
    assert USER.get(path).status == 200


@pytest.mark.parametrize("path", [f"{CONTACT}?id=", f"{SURVEY}?survey="])
def test_an_unknown_form_is_not_found(opened: Opened, path: str) -> None:
    assert USER.get(path + new_id()).status == 404


@pytest.mark.parametrize(
    ("query", "header", "language"),
    [
        ("", None, "en"),
        ("", "fr-CA, en;q=0.5", "fr"),
        ("&language=fr", None, "fr"),
        ("&language=fr", "en", "fr"),
        ("&language=de", "fr", "en"),
        ("", "☃;;q=,,", "en"),
    ],
)
def test_texts_are_in_the_readers_language(
    client: Client, query: str, header: str | None, language: str
) -> None:
    opened = open_account()
    opened.contact_form(autoTranslate=True, translations={"fr": {"header": {"title": "Bonjour"}}})
    headers = {"accept-language": header} if header else {}
    answer = USER.get(f"{CONTACT}?id={opened.contact_form_id}{query}", headers)
    assert answer.json["language"] == language
    assert (answer.json["header"]["title"] == "Bonjour") == (language == "fr")
    assert answer.headers["vary"] == "Accept-Language"


def test_a_form_that_is_not_translated_is_shown_in_its_own_language(client: Client) -> None:
    opened = open_account()
    opened.contact_form(translations={"fr": {"header": {"title": "Bonjour"}}})
    answer = USER.get(f"{CONTACT}?id={opened.contact_form_id}&language=fr")
    assert answer.json["language"] == "en"


def test_a_public_view_may_be_kept_and_asked_after(opened: Opened) -> None:
    path = f"{CONTACT}?id={opened.contact_form_id}"
    first = USER.get(path)
    assert first.headers["cache-control"] == "public, max-age=60"
    again = USER.get(path, {"if-none-match": first.headers["etag"]})
    assert (again.status, again.body) == (304, "")
    assert again.headers["access-control-allow-origin"] == "*"
    assert USER.get(path, {"if-none-match": '"other"'}).body == first.body


def test_a_view_with_a_tracker_is_kept_by_nobody(opened: Opened) -> None:
    path = f"{SURVEY}?survey={opened.private_survey_id}&tracker={opened.tracker()}"
    answer = USER.get(path, {"if-none-match": "*"})
    assert (answer.status, answer.headers["cache-control"]) == (200, "private, no-store")
    assert "etag" not in answer.headers


@pytest.mark.parametrize("path", [f"{CONTACT}?id=x", f"{CONTACT}?id={NOWHERE}", SURVEY])
def test_errors_may_be_read_from_any_origin(opened: Opened, path: str) -> None:
    answer = USER.get(path)
    assert answer.status in (400, 404)
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cache-control"] == "no-store"


def test_bugs_may_be_read_from_any_origin_and_tell_nothing(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr("chalicelib.services.forms.view.show_contact_form", broken)
    answer = USER.get(f"{CONTACT}?id={opened.contact_form_id}")
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (500, "*")
    assert "hunter2" not in answer.body


def test_cors_allows_what_the_interface_needs_and_no_more(opened: Opened) -> None:
    headers = USER.get(f"{CONTACT}?id={opened.contact_form_id}").headers
    assert headers["access-control-allow-origin"] == "*"
    assert headers["access-control-expose-headers"] == "ETag, Retry-After"
    assert "access-control-allow-credentials" not in headers


@pytest.mark.parametrize(
    ("path", "method"),
    [(CONTACT, "GET"), (SUBMIT_CONTACT, "POST"), (SURVEY, "GET"), (SUBMIT_SURVEY, "POST")],
)
def test_browsers_are_told_beforehand_what_they_may_send(path: str, method: str) -> None:
    asked = {
        "origin": "https://shop.example",
        "access-control-request-method": method,
        "access-control-request-headers": "idempotency-key",
    }
    answer = USER.ask_beforehand(path, asked)
    assert (answer.status, answer.body) == (204, "")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-methods"] == f"{method}, OPTIONS"
    allowed = answer.headers["access-control-allow-headers"].split(", ")
    assert sorted(allowed) == ["Content-Type", "Idempotency-Key", "If-None-Match"]
    assert int(answer.headers["access-control-max-age"]) > 0


def test_partner_endpoints_answer_no_other_origin() -> None:
    answer = USER.get("/partners/customer")
    assert answer.status == 401
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("name", ["contact form", "survey"])
def test_a_warm_public_view_asks_aws_for_nothing(opened: Opened, name: str) -> None:
    path = {
        "contact form": f"{CONTACT}?id={opened.contact_form_id}",
        "survey": f"{SURVEY}?survey={opened.survey_id}",
    }[name]
    USER.get(path)
    with counted_calls() as calls:
        USER.get(path)
        USER.get(f"{path}&store={opened.store_id}&language=fr")
    assert calls.total() == 0


def test_a_warm_view_with_a_tracker_costs_two_requests(opened: Opened) -> None:
    path = f"{SURVEY}?survey={opened.private_survey_id}&tracker={opened.tracker()}"
    USER.get(path)
    with counted_calls() as calls:
        assert USER.get(path).status == 200
    assert dict(calls) == {"dynamodb.GetItem": 2}


def test_a_form_is_read_once_a_minute(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_account()
    path = f"{CONTACT}?id={opened.contact_form_id}"
    start = cached.monotonic()
    monkeypatch.setattr(cached, "monotonic", lambda: start)
    USER.get(path)
    monkeypatch.setattr(cached, "monotonic", lambda: start + 54)
    with counted_calls() as calls:
        USER.get(path)
    assert calls.total() == 0
    monkeypatch.setattr(cached, "monotonic", lambda: start + 60)
    with counted_calls() as calls:
        USER.get(path)
    assert dict(calls) == {"dynamodb.Query": 2}


def test_a_new_name_shows_though_the_form_is_still_held(client: Client) -> None:
    opened = open_account()
    path = f"{CONTACT}?id={opened.contact_form_id}"
    before = USER.get(path)
    save_store(
        opened.account_id, store_document(opened.brand_id, id=opened.store_id, name="Lyon Est")
    )
    cached.clear_caches()
    after = USER.get(path)
    assert [store["name"] for store in after.json["storeList"]] == ["Lyon Est"]
    assert before.headers["etag"] != after.headers["etag"]
