"""Test that the service checks credentials before it checks other parts of a request."""

from datetime import UTC, datetime, timedelta
from inspect import unwrap

import pytest
from botocore.exceptions import EndpointConnectionError
from chalice.test import Client

from admin.services.accounts.manage import list_keys, revoke_key
from app import app
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.caching import clear_caches
from chalicelib.storage import credentials
from chalicelib.web.openapi.operation import OPERATIONS
from tests.aws.faults import failing
from tests.services.moved_time import Time
from tests.web.partner_client import Partner, Response, with_permissions

PATHS = [
    (method, path)
    for path, methods in app.routes.items()
    for method in methods
    if path.startswith("/partners/")
]

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def send(partner: Partner, method: str, path: str, body: bytes, media_type: str) -> Response:
    return partner._send(method, path, body, {"Content-Type": media_type})


@pytest.mark.parametrize(
    ("body", "media_type"), [(b"{", "application/json"), (b"<a/>", "application/xml")]
)
def test_every_partner_endpoint_checks_credentials_before_other_parts_of_request(
    client: Client, body: bytes, media_type: str
) -> None:
    for method, path in PATHS:
        # The id is missing and the body is invalid, but the response reports only the credentials.
        response = send(Partner(client, ""), method, path, body, media_type)
        assert (response.status, response.json["title"]) == (401, "Unauthorized"), path
        assert response.headers["content-type"] == "application/problem+json"


def test_unknown_api_key_and_wrong_secret_get_same_response(
    client: Client, partner: Partner
) -> None:
    key, secret = partner.headers["X-API-KEY"], partner.headers["X-API-SECRET"]
    wrong = [
        {"X-API-KEY": key, "X-API-SECRET": secret + "x"},
        {"X-API-KEY": key, "X-API-SECRET": "ÿ€"},
        {"X-API-KEY": "fk_unknown", "X-API-SECRET": secret},
        {"X-API-KEY": "k" * 3000, "X-API-SECRET": secret},
        {"X-API-KEY": "fk_" + "0" * 24, "X-API-SECRET": secret},
        {"X-API-KEY": key + "0", "X-API-SECRET": secret},
    ]
    responses = [Partner(client, "", headers).get("/partners/customer") for headers in wrong]
    bodies = [{k: v for k, v in a.json.items() if k != "requestId"} for a in responses]
    assert bodies == [bodies[0]] * len(wrong)
    assert {response.status for response in responses} == {401}


@pytest.mark.parametrize(
    ("sent", "detail"),
    [
        ((), "The headers X-API-KEY and X-API-SECRET are missing or empty."),
        (("X-API-KEY",), "The header X-API-SECRET is missing or empty."),
        (("X-API-SECRET",), "The header X-API-KEY is missing or empty."),
    ],
)
def test_missing_header_is_named(
    client: Client, partner: Partner, sent: tuple[str, ...], detail: str
) -> None:
    empty = {name: "" for name in partner.headers if name not in sent}
    given = {name: partner.headers[name] for name in sent}
    for headers in (given, given | empty):
        response = Partner(client, "", headers).get("/partners/customer")
        assert (response.status, response.json["code"]) == (401, "not_authenticated")
        assert response.json["detail"] == detail


@pytest.mark.parametrize("is_cached", [True, False])
@pytest.mark.parametrize("is_known", [True, False])
def test_rejected_api_key_takes_one_request_whether_known_cached_or_not(
    client: Client, partner: Partner, is_known: bool, is_cached: bool
) -> None:
    assert partner.get(f"/partners/customer?id={new_id()}").status == 404
    if not is_cached:
        clear_caches()
    key = partner.headers["X-API-KEY"] if is_known else "fk_" + "0" * 24
    stranger = Partner(client, "", {"X-API-KEY": key, "X-API-SECRET": "x"})
    with counted_calls() as calls:
        assert stranger.get(f"/partners/customer?id={new_id()}").status == 401
    assert calls == {"dynamodb.BatchGetItem": 1}


@pytest.mark.parametrize("is_cached", [True, False])
def test_key_is_rejected_like_an_unknown_one_from_its_expiry(
    client: Client, known: Partner, time: Time, is_cached: bool
) -> None:
    ends_at = clock.now() + timedelta(minutes=1)
    expiring = with_permissions(known, ends_at=ends_at)
    account = expiring.get("/partners/account").json
    assert account["expiresAt"] == format_timestamp(ends_at)
    time.ahead += timedelta(seconds=59)
    if not is_cached:
        clear_caches()
    assert expiring.get("/partners/account").status == 200
    time.ahead += timedelta(seconds=1)
    if not is_cached:
        clear_caches()
    unknown = {"X-API-KEY": "fk_" + "0" * 24, "X-API-SECRET": expiring.headers["X-API-SECRET"]}
    rejections = []
    for key in (expiring, Partner(client, "", unknown)):
        with counted_calls() as calls:
            response = key.get("/partners/account")
        assert calls == {"dynamodb.BatchGetItem": 1}
        rejections.append((response.status, response.json | {"requestId": ""}))
    assert rejections[0] == rejections[1]
    assert rejections[0][0] == 401


def test_first_use_of_a_day_is_stored_in_one_request(
    partner: Partner, time: Time, client: Client
) -> None:
    time.ahead = NOON + timedelta(days=1) - clock.now()
    other = with_permissions(partner)
    for day in (NOON + timedelta(days=1), NOON + timedelta(days=3)):
        time.ahead += day - clock.now()
        clear_caches()
        stranger = Partner(client, "", partner.headers | {"X-API-SECRET": "x"})
        assert stranger.get("/partners/account").status == 401
        with counted_calls() as calls:
            used = partner.get("/partners/account").json["lastUsedAt"]
        assert used == f"{day:%Y-%m-%d}T00:00:00.000Z"
        assert calls["dynamodb.UpdateItem"] == 1
        time.ahead += timedelta(hours=11, minutes=59)
        for clear in (lambda: None, clear_caches):
            clear()
            with counted_calls() as calls:
                assert partner.get("/partners/account").json["lastUsedAt"] == used
            assert "dynamodb.UpdateItem" not in calls
        keys = {key.api_key: key.last_used_at for key in list_keys(partner.account_id)}
        assert keys == {
            partner.headers["X-API-KEY"]: datetime.fromisoformat(used),
            other.headers["X-API-KEY"]: None,
        }


def test_request_succeeds_if_use_of_key_cannot_be_stored(partner: Partner) -> None:
    no_connection = EndpointConnectionError(endpoint_url="")
    with failing(no_connection, operation="UpdateItem") as sent:
        assert partner.get("/partners/account").status == 200
        assert partner.get("/partners/account").status == 200
    assert len(sent) == 1
    assert [key.last_used_at for key in list_keys(partner.account_id)] == [None]
    clear_caches()
    assert partner.get("/partners/account").status == 200
    assert list_keys(partner.account_id)[0].last_used_at


def test_malformed_api_key_is_rejected_without_request(client: Client) -> None:
    stranger = Partner(client, "", {"X-API-KEY": "fk_unknown", "X-API-SECRET": "x"})
    with counted_calls() as calls:
        assert stranger.get(f"/partners/customer?id={new_id()}").status == 401
    assert calls == {}


def test_wrong_secret_leaves_the_key_usable_and_cached(client: Client, partner: Partner) -> None:
    key = partner.headers["X-API-KEY"]
    stranger = Partner(client, "", {"X-API-KEY": key, "X-API-SECRET": "x"})
    assert partner.get(f"/partners/customer?id={new_id()}").status == 404
    assert stranger.get(f"/partners/customer?id={new_id()}").status == 401
    with counted_calls() as calls:
        assert partner.get(f"/partners/customer?id={new_id()}").status == 404
    assert calls == {"dynamodb.GetItem": 1}, "only the customer is read"


def test_credential_header_names_are_case_insensitive(client: Client, partner: Partner) -> None:
    lowered = Partner(client, "", {k.lower(): v for k, v in partner.headers.items()})
    assert lowered.get(f"/partners/customer?id={new_id()}").status == 404


def test_revoked_api_key_is_rejected_after_cache_expires(partner: Partner) -> None:
    assert partner.get(f"/partners/customer?id={new_id()}").status == 404
    revoke_key(partner.headers["X-API-KEY"], "operator")
    clear_caches()
    assert partner.get(f"/partners/customer?id={new_id()}").status == 401


def test_use_on_new_day_does_not_extend_cache_of_revoked_key(partner: Partner, time: Time) -> None:
    midnight = NOON + timedelta(days=1, hours=12)
    time.ahead = midnight - timedelta(seconds=30) - clock.now()
    assert partner.get("/partners/account").status == 200
    revoke_key(partner.headers["X-API-KEY"], "operator")
    assert partner.get("/partners/account").status == 200
    time.ahead += timedelta(seconds=31)
    assert partner.get("/partners/account").status == 401


def test_use_that_another_process_has_stored_is_not_stored_again(
    partner: Partner, time: Time
) -> None:
    midnight = NOON + timedelta(days=1, hours=12)
    time.ahead = midnight - timedelta(seconds=30) - clock.now()
    assert partner.get("/partners/account").status == 200
    credentials.mark_used(partner.headers["X-API-KEY"], midnight)
    time.ahead += timedelta(seconds=31)
    with counted_calls() as calls:
        assert partner.get("/partners/account").status == 200
    assert "dynamodb.UpdateItem" not in calls


def test_any_media_type_is_accepted_without_body(partner: Partner) -> None:
    permitted = with_permissions(partner, *Permission)
    for method, path in PATHS:
        declared = OPERATIONS[unwrap(app.routes[path][method].view_function)]
        if method == "GET" and "id" in declared.get("parameters", {}):
            headers = {"Content-Type": "application/xml"}
            assert permitted.get(f"{path}?id={new_id()}", headers).status == 404, path
