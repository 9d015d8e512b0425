"""Tests of the permissions of API keys."""

from inspect import unwrap

import pytest
from chalice.test import Client

from app import app
from chalicelib.domain.accounts.account import Permission
from chalicelib.web.openapi.operation import OPERATIONS as DECLARED
from chalicelib.web.openapi.operation import permissions_of
from tests.services.erasure.erasing import erase
from tests.web.partner.reporter import Reporter
from tests.web.partner_client import Partner, new_partner, with_permissions

OPERATIONS = {
    (method, path): {
        Permission(each) for each in permissions_of(DECLARED[unwrap(route.view_function)])
    }
    for path, methods in app.routes.items()
    for method, route in methods.items()
    if path.startswith("/partners/")
}
READS = ("/list", "/find", "/preview", "/statistics")
CREATED = {"firstName": "Zoé", "email": "zoe@example.test", "emailOptin": True}


def test_operations_that_only_read_need_read_and_all_others_write_or_erase() -> None:
    for (method, path), permissions in OPERATIONS.items():
        reads = method == "GET" or path.endswith(READS)
        erases = "/erase" in path or "/erasure" in path
        expected = {Permission.ERASE if erases else Permission.READ if reads else Permission.WRITE}
        if method == "PATCH":  # The response contains data that the request did not.
            expected.add(Permission.READ)
        assert permissions == expected, path


@pytest.fixture(scope="module")
def keys(client: Client) -> dict[Permission, Partner]:
    partner = new_partner(client)
    return {permission: with_permissions(partner, permission) for permission in Permission}


@pytest.mark.parametrize("permission", Permission)
def test_key_without_permission_gets_403_before_media_type_is_checked(
    keys: dict[Permission, Partner], permission: Permission
) -> None:
    for operation, permissions in OPERATIONS.items():
        response = keys[permission]._send(*operation, b"<a/>", {"Content-Type": "application/xml"})
        missing = permissions - {permission}
        assert (response.status == 403) == bool(missing), operation
        if missing:
            assert response.json["code"] == "missing_permission"
            assert any(each in response.json["detail"] for each in missing)


def test_key_with_read_and_write_changes_customer(partner: Partner) -> None:
    customer = partner.post("/partners/customer", {"firstName": "Zoé"}).json["id"]
    patched = partner.patch(f"/partners/customer?id={customer}", {"firstName": "Léa"})
    assert (patched.status, patched.json["firstName"]) == (200, "Léa")


def test_key_without_read_gets_no_stored_data_of_customers(own: Reporter) -> None:
    writer = with_permissions(own.partner, Permission.WRITE)
    stored = own.partner.post("/partners/customer", CREATED | {"company": "Lumen"}).json
    body = own.shop.definition(customer=CREATED)
    reported = writer.post("/partners/purchase", body)
    assert (reported.status, reported.json["customer"]) == (201, None)
    assert own.partner.post("/partners/purchase", body).json["customer"]["id"] == stored["id"]
    headers = {"Idempotency-Key": "key"}
    created = writer.post("/partners/customer", CREATED, headers)
    change = {"company": "Lumen", "emailOptin": False, "phoneNumber": "+33612345678"}
    own.partner.patch(f"/partners/customer?id={created.json['id']}", change)
    for key in (writer, own.partner):
        repeated = key.post("/partners/customer", CREATED, headers)
        assert (repeated.status, repeated.json) == (201, created.json)


def test_repeated_create_shows_optin_that_was_refused(partner: Partner) -> None:
    partner.post("/partners/customer/opt-out", {"email": CREATED["email"]})
    headers = {"Idempotency-Key": "key"}
    created = partner.post("/partners/customer", CREATED, headers).json
    assert created["emailOptin"] is False
    partner.patch(f"/partners/customer?id={created['id']}", {"emailOptin": True})
    assert partner.post("/partners/customer", CREATED, headers).json == created


def test_repeated_create_is_404_after_erasure(partner: Partner) -> None:
    headers = {"Idempotency-Key": "key"}
    customer = partner.post("/partners/customer", CREATED, headers).json["id"]
    erase(partner.account_id, customer)
    repeated = partner.post("/partners/customer", CREATED, headers)
    assert (repeated.status, repeated.json["code"]) == (404, "not_found")
    assert partner.post("/partners/customer", CREATED).status == 201


def test_key_without_write_gets_no_link_of_survey(own: Reporter) -> None:
    purchase = own.report()
    link = own.link(purchase)["link"]
    assert link
    reader = with_permissions(own.partner, Permission.READ)
    for key, expected in ((reader, None), (own.partner, link)):
        read = key.get(f"/partners/survey-tracker?purchase={purchase['id']}").json
        (listed,) = key.post("/partners/survey-tracker/list", {}).json["items"]
        assert (read["link"], listed["link"]) == (expected, expected)


def test_wrong_secret_gets_401_before_permission_is_checked(
    keys: dict[Permission, Partner],
) -> None:
    reader = keys[Permission.READ]
    wrong = Partner(reader.client, reader.account_id, reader.headers | {"X-API-SECRET": "wrong"})
    response = wrong.post("/partners/customer", {"firstName": "Zoé"})
    assert (response.status, response.json["code"]) == (401, "not_authenticated")
