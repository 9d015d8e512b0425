"""Tests of public views: content, cache headers, CORS headers and AWS requests."""

import pytest
from chalice.test import Client

from admin.services.definitions.kinds import BRAND, STORE, save
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.ids import new_id
from chalicelib.services import caching
from tests.domain.forms.factories import NOWHERE
from tests.web.definitions import brand_definition, store_definition
from tests.web.public.respondent import PublicClient
from tests.web.seeded_account import (
    CONTACT,
    REVIEW_PAGE,
    SUBMIT_CONTACT,
    SUBMIT_SURVEY,
    SURVEY,
    SeededAccount,
    seed_account,
)

CLIENT = PublicClient()


def test_contact_form_view_requires_no_credentials(seeded: SeededAccount) -> None:
    response = CLIENT.get(f"{CONTACT}?id={seeded.contact_form_id.upper()}")
    assert (response.status, response.headers["content-type"]) == (200, "application/json")
    assert response.json["id"] == seeded.contact_form_id
    assert response.json["brandName"] == ["Maison Lumen"]
    assert [store["id"] for store in response.json["storeList"]] == [seeded.store_id]


def test_view_of_disabled_form_is_returned(client: Client) -> None:
    seeded = seed_account()
    seeded.contact_form(enabled=False)
    seeded.survey(enabled=False)
    form = CLIENT.get(f"{CONTACT}?id={seeded.contact_form_id}")
    survey = CLIENT.get(f"{SURVEY}?survey={seeded.survey_id}")
    assert (form.status, form.json["enabled"]) == (200, False)
    assert (survey.status, survey.json["enabled"]) == (200, False)


def test_public_survey_view_contains_store_and_brand(seeded: SeededAccount) -> None:
    path = f"{SURVEY}?survey={seeded.survey_id}"
    alone, at_store, at_brand = (
        CLIENT.get(path + parameters).json
        for parameters in ("", f"&store={seeded.store_id}", f"&brand={seeded.brand_id}")
    )
    assert (alone["store"], alone["brand"]["id"]) == (None, seeded.brand_id)
    assert alone["externalUrl"] == REVIEW_PAGE
    assert at_store["store"]["id"] == seeded.store_id
    assert at_store["brand"]["id"] == seeded.brand_id
    assert at_store["externalUrl"] == REVIEW_PAGE
    assert (at_brand["store"], at_brand["brand"]["id"]) == (None, seeded.brand_id)
    assert {view["sendMode"] for view in (alone, at_store, at_brand)} == {"LINK"}
    assert alone["order"] == ""


@pytest.mark.parametrize("name", ["store", "brand"])
def test_unknown_store_or_brand_is_rejected(seeded: SeededAccount, name: str) -> None:
    other = seed_account()
    for place in (new_id(), getattr(other, f"{name}_id")):
        response = CLIENT.get(f"{SURVEY}?survey={seeded.survey_id}&{name}={place}")
        assert response.errors == [(f"?{name}", "unknown_reference")]


def test_survey_with_several_targets_has_no_default_brand(client: Client) -> None:
    seeded = seed_account()
    seeded.survey(
        targets=[
            {"type": "STORE", "targetId": seeded.store_id, "newReviewUri": REVIEW_PAGE},
            {"type": "BRAND", "targetId": seeded.brand_id, "newReviewUri": REVIEW_PAGE},
        ]
    )
    view = CLIENT.get(f"{SURVEY}?survey={seeded.survey_id}").json
    assert (view["store"], view["brand"], view["externalUrl"]) == (None, None, "")


def test_brand_that_differs_from_brand_of_store_is_rejected(client: Client) -> None:
    seeded = seed_account()
    brand = save(BRAND, seeded.account_id, brand_definition())
    path = f"{SURVEY}?survey={seeded.survey_id}&store={seeded.store_id}&brand={brand.id}"
    assert CLIENT.get(path).errors == [("?brand", "invalid_combination")]


def test_private_survey_requires_tracker(seeded: SeededAccount) -> None:
    path = f"{SURVEY}?survey={seeded.private_survey_id}"
    for place in ("", f"&store={new_id()}", f"&brand={new_id()}"):
        assert CLIENT.get(path + place).status == 403
    for invalid in ("&store=7", "&brand=7", "&store=7&tracker="):
        assert CLIENT.get(path + invalid).status == 403
    assert CLIENT.get(f"{path}&store=7&tracker=7").errors == [
        ("?tracker", "invalid_uuid"),
        ("?store", "invalid_uuid"),
    ]
    tracker = seeded.tracker(externalId="A-20413")
    view = CLIENT.get(f"{path}&tracker={tracker.upper()}").json
    assert (view["order"], view["sendMode"]) == ("A-20413", "SMS")
    assert (view["store"]["id"], view["brand"]["id"]) == (seeded.store_id, seeded.brand_id)
    assert view["externalUrl"] == REVIEW_PAGE


def test_invalid_parameters_of_public_or_unknown_survey_are_reported(seeded: SeededAccount) -> None:
    for survey in (seeded.survey_id, new_id()):
        response = CLIENT.get(f"{SURVEY}?survey={survey}&store=7")
        assert response.errors == [("?store", "invalid_uuid")]


def test_unknown_tracker_is_not_found(seeded: SeededAccount) -> None:
    path = f"{SURVEY}?survey={seeded.private_survey_id}&tracker="
    of_another = seeded.tracker(seeded.survey_id)
    assert [CLIENT.get(path + new_id()).status, CLIENT.get(path + of_another).status] == [404, 404]


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
def test_invalid_parameter_is_rejected(
    seeded: SeededAccount, path: str, errors: list[tuple[str, str]]
) -> None:
    assert CLIENT.get(path).errors == errors


def test_empty_and_unknown_parameters_are_ignored(seeded: SeededAccount) -> None:
    path = f"{SURVEY}?survey={seeded.survey_id}&tracker=&store=&brand=&language=&more=1"
    assert CLIENT.get(path).status == 200


@pytest.mark.parametrize("path", [f"{CONTACT}?id=", f"{SURVEY}?survey="])
def test_unknown_form_is_not_found(seeded: SeededAccount, path: str) -> None:
    assert CLIENT.get(path + new_id()).status == 404


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
def test_view_language_is_selected_by_request(
    client: Client, query: str, header: str | None, language: str
) -> None:
    seeded = seed_account()
    seeded.contact_form(autoTranslate=True, translations={"fr": {"header": {"title": "Bonjour"}}})
    headers = {"accept-language": header} if header else {}
    response = CLIENT.get(f"{CONTACT}?id={seeded.contact_form_id}{query}", headers)
    assert response.json["language"] == language
    assert (response.json["header"]["title"] == "Bonjour") == (language == "fr")
    assert response.headers["vary"] == "Accept-Language"


def test_view_of_form_without_auto_translate_is_in_form_language(client: Client) -> None:
    seeded = seed_account()
    seeded.contact_form(translations={"fr": {"header": {"title": "Bonjour"}}})
    response = CLIENT.get(f"{CONTACT}?id={seeded.contact_form_id}&language=fr")
    assert response.json["language"] == "en"


def test_public_view_is_cacheable(seeded: SeededAccount) -> None:
    path = f"{CONTACT}?id={seeded.contact_form_id}"
    first = CLIENT.get(path)
    assert first.headers["cache-control"] == "public, max-age=60"
    conditional = CLIENT.get(path, {"if-none-match": first.headers["etag"]})
    assert (conditional.status, conditional.body) == (304, "")
    assert conditional.headers["content-type"] == "application/json"
    assert conditional.headers["access-control-allow-origin"] == "*"
    assert CLIENT.get(path, {"if-none-match": '"other"'}).body == first.body


def test_view_with_tracker_is_not_cacheable(seeded: SeededAccount) -> None:
    path = f"{SURVEY}?survey={seeded.private_survey_id}&tracker={seeded.tracker()}"
    response = CLIENT.get(path, {"if-none-match": "*"})
    assert (response.status, response.headers["cache-control"]) == (200, "private, no-store")
    assert "etag" not in response.headers


@pytest.mark.parametrize("path", [f"{CONTACT}?id=x", f"{CONTACT}?id={NOWHERE}", SURVEY])
def test_error_response_allows_any_origin(seeded: SeededAccount, path: str) -> None:
    response = CLIENT.get(path)
    assert response.status in (400, 404)
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["cache-control"] == "no-store"


def test_response_500_allows_any_origin_and_reveals_no_details(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr("chalicelib.services.forms.public.get_public_contact_form", broken)
    response = CLIENT.get(f"{CONTACT}?id={seeded.contact_form_id}")
    assert (response.status, response.headers["access-control-allow-origin"]) == (500, "*")
    assert "hunter2" not in response.body


def test_cors_headers_allow_any_origin_without_credentials(seeded: SeededAccount) -> None:
    headers = CLIENT.get(f"{CONTACT}?id={seeded.contact_form_id}").headers
    assert headers["access-control-allow-origin"] == "*"
    assert headers["access-control-expose-headers"] == "ETag, Retry-After, X-Request-Id"
    assert "access-control-allow-credentials" not in headers


@pytest.mark.parametrize(
    ("path", "method"),
    [(CONTACT, "GET"), (SUBMIT_CONTACT, "POST"), (SURVEY, "GET"), (SUBMIT_SURVEY, "POST")],
)
def test_preflight_response_allows_method_and_headers(path: str, method: str) -> None:
    headers = {
        "origin": "https://shop.example",
        "access-control-request-method": method,
        "access-control-request-headers": "idempotency-key",
    }
    response = CLIENT.preflight(path, headers)
    assert (response.status, response.body) == (204, "")
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["access-control-allow-methods"] == f"{method}, OPTIONS"
    allowed_headers = response.headers["access-control-allow-headers"].split(", ")
    assert sorted(allowed_headers) == ["Content-Type", "Idempotency-Key", "If-None-Match"]
    assert int(response.headers["access-control-max-age"]) > 0


def test_head_response_has_status_and_headers_of_get_response(
    seeded: SeededAccount, docs: dict[str, str]
) -> None:
    paths = {
        f"{CONTACT}?id={seeded.contact_form_id}": 200,
        f"{SURVEY}?survey={seeded.survey_id}": 200,
        f"{SURVEY}?survey={seeded.private_survey_id}": 403,
        "/docs": 200,
        "/docs/purchases": 200,
        "/openapi.json": 200,
    }
    for path, status in paths.items():
        head, get = CLIENT.head(path), CLIENT.get(path)
        assert (head.status, get.status) == (status, status)
        assert head.headers == get.headers


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
@pytest.mark.parametrize("path", ["/partners/customer", "/partners/customer/list"])
def test_partner_endpoint_has_no_cors_headers(path: str, method: str) -> None:
    response = CLIENT.request(method, path, {"origin": "https://shop.example"})
    assert response.status in (401, 405)
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", [CONTACT, "/docs", "/openapi.json", "/partners/customer"])
def test_response_forbids_browser_to_guess_media_type(path: str, docs: dict[str, str]) -> None:
    assert CLIENT.get(path).headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["contact form", "survey"])
def test_warm_public_view_sends_no_aws_request(seeded: SeededAccount, name: str) -> None:
    path = {
        "contact form": f"{CONTACT}?id={seeded.contact_form_id}",
        "survey": f"{SURVEY}?survey={seeded.survey_id}",
    }[name]
    CLIENT.get(path)
    with counted_calls() as calls:
        CLIENT.get(path)
        CLIENT.get(f"{path}&store={seeded.store_id}&language=fr")
    assert calls.total() == 0


def test_warm_view_with_tracker_sends_two_aws_requests(seeded: SeededAccount) -> None:
    path = f"{SURVEY}?survey={seeded.private_survey_id}&tracker={seeded.tracker()}"
    CLIENT.get(path)
    with counted_calls() as calls:
        assert CLIENT.get(path).status == 200
    assert dict(calls) == {"dynamodb.GetItem": 2}


def test_views_load_form_once_per_minute(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    seeded = seed_account()
    path = f"{CONTACT}?id={seeded.contact_form_id}"
    start = caching.wall_clock_s()
    monkeypatch.setattr(caching, "wall_clock_s", lambda: start)
    CLIENT.get(path)
    monkeypatch.setattr(caching, "wall_clock_s", lambda: start + 54)
    with counted_calls() as calls:
        CLIENT.get(path)
    assert calls.total() == 0
    monkeypatch.setattr(caching, "wall_clock_s", lambda: start + 60)
    with counted_calls() as calls:
        CLIENT.get(path)
    assert dict(calls) == {"dynamodb.Query": 2}


def test_view_contains_new_store_name_after_caches_expire(client: Client) -> None:
    seeded = seed_account()
    path = f"{CONTACT}?id={seeded.contact_form_id}"
    before = CLIENT.get(path)
    save(
        STORE,
        seeded.account_id,
        store_definition(seeded.brand_id, id=seeded.store_id, name="Lyon Est"),
    )
    caching.clear_caches()
    after = CLIENT.get(path)
    assert [store["name"] for store in after.json["storeList"]] == ["Lyon Est"]
    assert before.headers["etag"] != after.headers["etag"]
