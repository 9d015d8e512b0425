"""Tests of the endpoints that describe the account."""

import json

from chalice.test import Client

from admin.services.accounts.settings import change_account_settings
from admin.services.definitions.kinds import BRAND, STORE, WORKFLOW, save
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.accounts.account import Permission
from tests.domain.workflows.factories import workflow_definition
from tests.web.definitions import brand_definition, store_definition
from tests.web.partner_client import Partner, new_partner, with_permissions


def test_account_contains_name_time_zone_permissions_and_limits(client: Client) -> None:
    partner = new_partner(client, Permission.ERASE, Permission.READ)
    change_account_settings(partner.account_id, {"timeZone": "Europe/Paris"}, "operator")
    response = partner.get("/partners/account")
    assert response.status == 200
    limits = response.json["limits"]
    assert response.json == {
        "id": partner.account_id,
        "name": "Maison Lumen",
        "timeZone": "Europe/Paris",
        "permissions": ["read", "erase"],
        "expiresAt": None,
        "lastUsedAt": f"{clock.now():%Y-%m-%d}T00:00:00.000Z",
        "limits": limits,
    }
    assert limits["requestBytes"] == 4 * 1024 * 1024
    assert limits["customerBatchRows"] == 10_000
    with counted_calls() as calls:
        partner.get("/partners/account")
    assert not calls


def test_places_are_listed_by_name_with_their_brand(client: Client, partner: Partner) -> None:
    account = partner.account_id
    brand = save(BRAND, account, brand_definition(name="Maison Lumen", color=""))
    store = save(
        STORE,
        account,
        store_definition(brand.id, name="Lyon", timeZone="Europe/Paris", color="#fff"),
    )
    partner.get("/partners/account")
    with counted_calls() as calls:
        response = partner.post("/partners/place/list", {"limit": 1})
    assert dict(calls) == {"dynamodb.Query": 1}
    assert response.status == 201
    assert response.json["items"] == [
        {
            "id": store.id,
            "kind": "STORE",
            "name": "Lyon",
            "color": "#fff",
            "brandId": brand.id,
            "timeZone": "Europe/Paris",
        }
    ]
    assert response.json["meta"] == {
        "itemCount": 1,
        "totalItems": 2,
        "itemsPerPage": 1,
        "totalPages": 2,
        "currentPage": 1,
    }
    (item,) = partner.post("/partners/place/list", {"limit": 1, "page": 2}).json["items"]
    assert (item["id"], item["brandId"], item["color"]) == (brand.id, None, "")
    assert partner.post("/partners/place/list", {"page": 3}).json["items"] == []
    assert new_partner(client).post("/partners/place/list", {}).json["meta"]["totalItems"] == 0


def test_workflows_are_listed_without_secrets(client: Client, partner: Partner) -> None:
    secret = "https://hooks.example.com:8443/T0/SECRET?key=SECRET"
    action = {
        "id": "5b0f7e0e-2f63-4b55-9b50-8f3f3a1d8f10",
        "key": "crm",
        "description": "To the CRM",
        "url": secret,
        "headers": {"Authorization": "SECRET"},
        "metadata": {"token": "SECRET"},
        "attempts": 3,
    }
    saved = save(WORKFLOW, partner.account_id, workflow_definition(name="CRM", actions=[action]))
    partner.get("/partners/account")
    with counted_calls() as calls:
        response = partner.post("/partners/workflow/list", {})
    assert dict(calls) == {"dynamodb.Query": 1}
    assert response.json["items"] == [
        {
            "id": saved.id,
            "createdAt": saved.created_at,
            "updatedAt": saved.updated_at,
            "name": "CRM",
            "enabled": True,
            "actions": [
                {
                    "id": action["id"],
                    "key": "crm",
                    "description": "To the CRM",
                    "host": "hooks.example.com",
                    "attempts": 3,
                }
            ],
        }
    ]
    assert "SECRET" not in json.dumps(response.json)
    assert new_partner(client).post("/partners/workflow/list", {}).json["items"] == []


def test_keys_of_one_account_see_the_same_account(partner: Partner) -> None:
    other = with_permissions(partner, Permission.READ)
    ids = {key.get("/partners/account").json["id"] for key in (partner, other)}
    assert ids == {partner.account_id}
