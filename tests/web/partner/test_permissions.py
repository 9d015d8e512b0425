"""Tests of the permissions of API keys."""

from inspect import unwrap
from itertools import product

import pytest
from chalice.test import Client

from app import app
from chalicelib.domain.accounts.account import Permission
from chalicelib.storage.credentials import CredentialRow
from chalicelib.web.openapi.operation import permission_of
from tests.web.partner_client import Partner, new_partner, with_permissions

OPERATIONS = {
    (method, path): Permission(permission_of(unwrap(route.view_function)))
    for path, methods in app.routes.items()
    for method, route in methods.items()
    if path.startswith("/partners/")
}
READS = ("/list", "/find", "/statistics")


def test_operations_that_only_read_need_read_and_all_others_write_or_erase() -> None:
    for (method, path), permission in OPERATIONS.items():
        reads = method == "GET" or path.endswith(READS)
        erases = "/erase" in path or "/erasure" in path
        expected = Permission.ERASE if erases else Permission.READ if reads else Permission.WRITE
        assert permission is expected, path


@pytest.fixture(scope="module")
def keys(client: Client) -> dict[Permission, Partner]:
    partner = new_partner(client)
    return {permission: with_permissions(partner, permission) for permission in Permission}


@pytest.mark.parametrize(
    ("operation", "permission"),
    [
        pytest.param(operation, permission, id=f"{' '.join(operation)} {permission}")
        for operation, permission in product(OPERATIONS, Permission)
    ],
)
def test_key_without_permission_gets_403_before_media_type_is_checked(
    keys: dict[Permission, Partner], operation: tuple[str, str], permission: Permission
) -> None:
    declared = {"Content-Type": "application/xml"}
    response = keys[permission]._send(*operation, b"<a/>", declared)
    if OPERATIONS[operation] is permission:
        assert response.status != 403
    else:
        assert response.status == 403
        assert response.json["code"] == "missing_permission"
        assert OPERATIONS[operation] in response.json["detail"]


def test_wrong_secret_gets_401_before_permission_is_checked(
    keys: dict[Permission, Partner],
) -> None:
    reader = keys[Permission.READ]
    wrong = Partner(reader.client, reader.account_id, reader.headers | {"X-API-SECRET": "wrong"})
    response = wrong.post("/partners/customer", {"firstName": "Zoé"})
    assert (response.status, response.json["code"]) == (401, "not_authenticated")


def test_key_of_earlier_version_can_read_and_write(partner: Partner) -> None:
    row = CredentialRow(partner.headers["X-API-KEY"])
    row.update([CredentialRow.permissions.remove()])
    assert partner.post("/partners/customer", {"firstName": "Zoé"}).status == 201
    assert partner.get("/partners/account").json["permissions"] == ["read", "write"]
