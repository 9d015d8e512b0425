"""Test that the service works with the rows of an account that an earlier release has stored.

`make e2e-quiet SAVED_ACCOUNT=tests/e2e/accounts/1.0.0.json.gz` saves the rows of an account with
records of all kinds. The test loads the rows of each file in this folder, and those that this
version stores.
"""

import base64
import gzip
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.admin import admin
from tests.e2e.cloud import Cloud
from tests.e2e.demo_messages import new_mobile_number
from tests.e2e.receiver_process import ReceiverProcess
from tests.e2e.shop import Person, Shop, erase, plant
from tests.services.erasure.stored import table_texts
from tests.waiting import wait_until

SAVED: Final = sorted((Path(__file__).parent / "accounts").glob("*.json.gz"))
MAX_BYTES: Final = 200_000


@dataclass(frozen=True)
class SavedAccount:
    """An account with a person, and all rows that contain the account's id.

    Attributes:
        rows: the rows by table, as DynamoDB returns them. Bytes are in Base64.
    """

    account_id: str
    headers: dict[str, str]
    ids: dict[str, str]
    text: str
    phone_number: str
    rows: dict[str, list[dict[str, Any]]]

    @classmethod
    def read(cls, path: Path) -> "SavedAccount":
        return cls(**json.loads(gzip.decompress(path.read_bytes())))

    def write(self, path: Path) -> None:
        encoded = json.dumps(vars(self), ensure_ascii=False).encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(encoded, mtime=0))
        assert path.stat().st_size < MAX_BYTES


def rows_of(cloud: Cloud, account_id: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows that contain the account's id, and the other rows of the same partitions."""
    dynamodb, prefix = cloud.client("dynamodb"), cloud.resource_name("")
    found = {}
    for name in dynamodb.list_tables()["TableNames"]:
        if name.startswith(prefix):
            schema = dynamodb.describe_table(TableName=name)["Table"]["KeySchema"]
            pages = dynamodb.get_paginator("scan").paginate(TableName=name)
            rows = [row for page in pages for row in page["Items"]]
            key = schema[0]["AttributeName"]
            partitions = {str(row[key]) for row in rows if account_id in str(row)}
            found[name.removeprefix(prefix)] = [r for r in rows if str(r[key]) in partitions]
    encoded = json.dumps(found, default=lambda data: {"base64": base64.b64encode(data).decode()})
    return dict(json.loads(encoded))


def load(cloud: Cloud, saved: SavedAccount) -> None:
    """Replace the rows of the account."""

    def decode(value: Any) -> Any:
        return base64.b64decode(value["base64"]) if value.keys() == {"base64"} else value

    dynamodb = cloud.client("dynamodb")
    rows = json.loads(json.dumps(saved.rows), object_hook=decode)
    for table, items in rows.items():
        for item in items:
            dynamodb.put_item(TableName=cloud.resource_name(table), Item=item)


@pytest.fixture(params=[*SAVED, None], ids=lambda path: path.name if path else "this-version")
def saved(
    request: pytest.FixtureRequest, shop: Shop, receiver_process: ReceiverProcess, tmp_path: Path
) -> SavedAccount:
    """Return an account that a release has saved, or a new one."""
    if request.param:
        return SavedAccount.read(request.param)
    person = Person(f"upgrade{os.urandom(6).hex()}", new_mobile_number())
    plant(shop, person, receiver_process)
    new = SavedAccount(
        shop.account_id,
        shop.headers,
        shop.ids,
        person.text,
        person.phone_number,
        rows_of(shop.cloud, shop.account_id),
    )
    path = Path(os.environ.get("SAVED_ACCOUNT") or tmp_path / "this-version.json.gz")
    new.write(path)
    delete(shop.cloud, new)
    return SavedAccount.read(path)


def delete(cloud: Cloud, saved: SavedAccount) -> None:
    dynamodb = cloud.client("dynamodb")
    for table, items in saved.rows.items():
        name = cloud.resource_name(table)
        schema = dynamodb.describe_table(TableName=name)["Table"]["KeySchema"]
        for item in items:
            key = {part["AttributeName"]: item[part["AttributeName"]] for part in schema}
            dynamodb.delete_item(TableName=name, Key=key)
    assert not any(rows_of(cloud, saved.account_id).values())


def test_account_that_release_has_stored_is_read_changed_and_erased(
    cloud: Cloud, saved: SavedAccount, tmp_path: Path
) -> None:
    load(cloud, saved)
    shop = Shop(cloud, tmp_path, saved.account_id, saved.headers, saved.ids)
    person = Person(saved.text, saved.phone_number)
    for kind in ("contact-form", "survey"):
        assert (
            shop.get(f"/partners/{kind}", saved.ids[kind.removeprefix("contact-")])[
                "submissionCount"
            ]
            == 1
        )
    feed = shop.http.post("/partners/feedback/list", json={"limit": 100}).json()
    assert len(feed["items"]) == 2
    admin(cloud, "recount", saved.account_id)

    other = Person(f"new{os.urandom(6).hex()}", new_mobile_number())
    shop.submit(other, "contact-form", saved.ids["form"])
    wait_until(
        lambda: shop.get("/partners/contact-form", saved.ids["form"])["submissionCount"] == 2
    )
    batch = shop.create("/partners/customer/batch", {"batch": [person.body, other.body]}, other)
    wait_until(lambda: shop.get("/partners/customer/batch", batch["id"])["status"] == "COMPLETED")
    assert (shop.get("/partners/customer/batch", batch["id"])["created"]) == 0

    listed = admin(cloud, "customer", "find", saved.account_id, "--email", person.email, "--json")
    receipts = [erase(shop, customer["id"]) for customer in json.loads(listed)]
    assert {receipt["state"] for receipt in receipts} == {"DONE"}
    assert not [text for _, text in table_texts(cloud.client("dynamodb")) if person.is_in(text)]
    admin(cloud, "recount", saved.account_id)
