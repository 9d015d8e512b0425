"""Tests of the unsubscribe page and of the short link to a survey."""

import re
from io import StringIO
from typing import Any

import pytest

from admin.services.customers.save import save_customer
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.customers.addresses import email_hash
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.links import short_form_link, short_tracker
from chalicelib.domain.solicitation.tokens import UnsubscribeToken
from chalicelib.services.solicitation import suppressions
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.storage import contacts, customers
from chalicelib.storage.stage_values import stage_secret
from tests.policies import allowed
from tests.web.definitions import customer_definition
from tests.web.partner_client import Partner
from tests.web.seeded_account import seed_account

pytestmark = pytest.mark.usefixtures("client")
TRACKER = "7ac00000-0000-4000-8000-000000000001"
ONE_CLICK = b"List-Unsubscribe=One-Click"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(autouse=True)
def warm_secret(client: Any) -> None:
    """Cache the secret of the stage."""
    stage_secret()


@pytest.fixture
def subscriber(known: Partner) -> tuple[str, str, str]:
    """Create a customer who accepts messages. Return account, customer and unsubscribe token."""
    email = f"{new_id()}@example.com"
    definition = customer_definition(email=email, emailOptin=True, smsOptin=True)
    customer = save_customer(known.account_id, definition)
    contact_hash = email_hash(known.account_id, email)
    assert contact_hash
    token = UnsubscribeToken(known.account_id, contact_hash, Channel.EMAIL, new_id(), None).signed(
        stage_secret()
    )
    return known.account_id, customer.id, token


def send(client: Any, method: str, path: str, *, body: bytes = b"", **headers: str) -> Any:
    with allowed("api_handler"):
        return client.http.request(method, path, headers=headers, body=body)


def optins(account_id: str, customer_id: str) -> tuple[bool, bool]:
    customer = customers.find(account_id, customer_id)
    assert customer
    return customer.email_optin, customer.sms_optin


def test_one_click_unsubscribe_turns_opt_in_off(
    client: Any, subscriber: tuple[str, str, str]
) -> None:
    account_id, customer_id, token = subscriber
    for _ in range(2):
        response = send(
            client, "POST", f"/public/unsubscribe?token={token}", body=ONE_CLICK, **FORM
        )
        assert response.status_code == 200
        assert "You are unsubscribed." in response.body.decode()
        assert optins(account_id, customer_id) == (False, True)
    key = current_keys(account_id, _email(account_id, customer_id), None)[Channel.EMAIL]
    assert key
    assert set(contacts.find_many([key])[key].suppressed) == {Channel.EMAIL}
    row = contacts.ContactRow.get(key)
    assert (row.account_id, row.expires_at) == (account_id, None)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", {}),
        (b"", FORM),
        (ONE_CLICK, {"Content-Type": "multipart/form-data; boundary=x"}),
        (b"\xff\x00", {"Content-Type": "text/plain"}),
    ],
)
def test_body_of_one_click_request_is_ignored(
    client: Any, subscriber: tuple[str, str, str], body: bytes, headers: dict[str, str]
) -> None:
    account_id, customer_id, token = subscriber
    response = send(client, "POST", f"/public/unsubscribe?token={token}", body=body, **headers)
    assert response.status_code == 200
    assert optins(account_id, customer_id) == (False, True)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_opening_unsubscribe_link_changes_nothing(
    client: Any, subscriber: tuple[str, str, str], method: str
) -> None:
    account_id, customer_id, token = subscriber
    with counted_calls() as calls:
        response = send(client, method, f"/public/unsubscribe?token={token}")
    assert response.status_code == 200
    assert not calls
    assert response.headers["Cache-Control"] == "private, no-store"
    assert "form-action 'self';" in response.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
    assert re.search(r'<form method="post">\s*<button type="submit"', response.body.decode())
    assert optins(account_id, customer_id) == (True, True)


def test_unsubscribe_sends_two_aws_requests(client: Any, subscriber: tuple[str, str, str]) -> None:
    with counted_calls() as calls:
        send(client, "POST", f"/public/unsubscribe?token={subscriber[2]}")
    assert calls == {"dynamodb.Query": 1, "dynamodb.TransactWriteItems": 1}


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "PUT"])
def test_any_origin_may_call_unsubscribe_path(client: Any, method: str) -> None:
    response = send(client, method, "/public/unsubscribe?token=x")
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    if method == "OPTIONS":
        assert response.status_code == 204
        assert response.headers["Access-Control-Allow-Methods"] == "GET, POST, OPTIONS"


def test_unsubscribe_works_after_customer_is_erased(client: Any, known: Partner) -> None:
    contact_hash = email_hash(known.account_id, "gone@example.com")
    assert contact_hash
    token = UnsubscribeToken(known.account_id, contact_hash, Channel.EMAIL, new_id(), None).signed(
        stage_secret()
    )
    assert send(client, "POST", f"/public/unsubscribe?token={token}").status_code == 200
    key = contacts.contact_key(contact_hash)
    assert Channel.EMAIL in contacts.find_many([key])[key].suppressed
    assert contacts.ContactRow.get(key).account_id == known.account_id


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("query", ["", "?token=", "?token=x", "?token=" + "A" * 600])
def test_unsubscribe_page_explains_invalid_token(client: Any, method: str, query: str) -> None:
    with counted_calls() as calls:
        response = send(client, method, f"/public/unsubscribe{query}")
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "This link is invalid." in response.body.decode()
    assert not calls


@pytest.mark.parametrize(
    ("accepted", "query", "expected"),
    [
        ("fr-CA,en;q=0.5", "", ('lang="fr" dir="ltr"', "Se désabonner")),
        ("ar", "", ('lang="ar" dir="rtl"', "إلغاء الاشتراك")),
        ("fr", "&language=de", ('lang="de" dir="ltr"', "Abmelden")),
        ("pl", "", ('lang="pl" dir="ltr"', "Wypisz się")),
        ("cy", "", ('lang="en" dir="ltr"', "Unsubscribe")),
    ],
)
def test_unsubscribe_page_uses_language_of_recipient(
    client: Any, known: Partner, accepted: str, query: str, expected: tuple[str, str]
) -> None:
    token = UnsubscribeToken(known.account_id, "k", Channel.EMAIL, new_id(), None).signed(
        stage_secret()
    )
    response = send(
        client,
        "GET",
        f"/public/unsubscribe?token={token}{query}",
        **{"Accept-Language": accepted},
    )
    for text in expected:
        assert text in response.body.decode()


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_short_link_redirects_to_survey_without_aws_requests(client: Any, method: str) -> None:
    with counted_calls() as calls:
        response = send(client, method, f"/s/{short_tracker(TRACKER)}")
    assert not calls
    assert response.status_code == 302
    assert response.headers["Location"] == f"../public/survey/page?tracker={TRACKER}"
    assert response.headers["Cache-Control"] == "private, no-store"


def test_short_link_keeps_answers_and_labels(client: Any) -> None:
    response = send(client, "GET", f"/s/{short_tracker(TRACKER)}?a.nps=9&a.why=1&a.why=2&l.table=4")
    assert response.headers["Location"] == (
        f"../public/survey/page?tracker={TRACKER}&l.table=4&a.nps=9&a.why=1&a.why=2"
    )
    other = send(client, "GET", f"/s/{short_tracker(TRACKER)}?tracker=x&language=fr")
    assert other.headers["Location"] == f"../public/survey/page?tracker={TRACKER}"


@pytest.mark.parametrize(
    ("kind", "page"), [("c", "contact-form/page?id="), ("s", "survey/page?survey=")]
)
def test_short_link_of_poster_redirects_to_page_of_form(client: Any, kind: str, page: str) -> None:
    form, store = new_id(), new_id()
    for store_id, query in ((None, ""), (store, f"&store={store}")):
        link = short_form_link("", form, store_id, is_survey=kind == "s")
        with counted_calls() as calls:
            response = send(client, "GET", link)
        assert not calls
        assert response.headers["Location"] == f"../public/{page}{form}{query}"


@pytest.mark.parametrize("code", ["x", "A" * 21 + "B", "A" * 23, "s" + "A" * 43, "x" + "A" * 22])
def test_invalid_short_link_gets_404_problem(client: Any, code: str) -> None:
    response = send(client, "GET", f"/s/{code}")
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("code", ["x", "A" * 23])
def test_browser_gets_page_for_invalid_short_link(client: Any, code: str) -> None:
    with counted_calls() as calls:
        response = send(
            client, "GET", f"/s/{code}", Accept="text/html", **{"Accept-Language": "fr"}
        )
    assert not calls
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "Cette page n’existe pas" in response.body.decode()
    assert "<script" not in response.body.decode()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_unsubscribe_page_of_a_person_shows_sender(client: Any, method: str) -> None:
    seeded = seed_account()
    contact_hash = email_hash(seeded.account_id, "zoe@example.com")
    assert contact_hash
    origin = (seeded.private_survey_id, seeded.store_id)
    token = UnsubscribeToken(seeded.account_id, contact_hash, Channel.EMAIL, *origin)
    path = f"/public/unsubscribe?token={token.signed(stage_secret())}"
    page = send(client, method, path, Accept="text/html").body.decode()
    assert "Maison Lumen" in page
    assert f"<h1>{'Unsubscribe' if method == 'GET' else 'Unsubscribed'}</h1>" in page
    with counted_calls() as calls:
        assert send(client, method, path).status_code == 200
    assert calls.total() == (0 if method == "GET" else 2)


@pytest.mark.parametrize(("method", "events"), [("GET", 0), ("POST", 1)])
def test_only_failed_post_request_is_logged_as_failed_unsubscribe(
    client: Any, log: StringIO, monkeypatch: pytest.MonkeyPatch, method: str, events: int
) -> None:
    def fail(token: str) -> UnsubscribeToken:
        raise Unavailable("database")

    monkeypatch.setattr(suppressions, "require_unsubscribe_token", fail)
    assert send(client, method, "/public/unsubscribe?token=x").status_code == 503
    assert log.getvalue().count('"unsubscribe failed"') == events


def test_unsubscribe_page_needs_no_survey(client: Any, known: Partner) -> None:
    token = UnsubscribeToken(known.account_id, "k", Channel.EMAIL, new_id(), new_id())
    path = f"/public/unsubscribe?token={token.signed(stage_secret())}"
    assert send(client, "GET", path, Accept="text/html").status_code == 200


def _email(account_id: str, customer_id: str) -> str:
    customer = customers.find(account_id, customer_id)
    assert customer
    assert customer.email
    return customer.email
