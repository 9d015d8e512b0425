"""Test that mail scanners, which open every link and run the scripts of pages, change nothing."""

import itertools
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import ne
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page

from chalicelib.domain.ids import new_id
from chalicelib.storage.dynamodb.table import account_key
from tests.chromium.browser import open_page
from tests.domain.forms.factories import field
from tests.e2e.admin import admin
from tests.e2e.cloud import TIMEOUT_S, Cloud
from tests.e2e.demo_messages import new_mobile_number, unsent_surveys
from tests.waiting import wait_until

DEMO_SCORES = 11
"""The number of rating links in a mail of the demo: the options of its first question."""
RATED = {"BINARY": 2}
"""The number of rating links in another mail, by the type of the first question."""


@dataclass(frozen=True)
class Mailing:
    """Sent surveys and their messages.

    Attributes:
        messages: the messages, as the mailbox lists them.
        surveys: the account and the sent survey of each message, as ``solicitation list`` shows it.
    """

    cloud: Cloud
    messages: list[dict[str, Any]]
    surveys: list[tuple[str, dict[str, Any]]]

    def links(self) -> list[str]:
        """Return the links of all messages and of their headers, without duplicates."""
        headers = (
            link
            for message in self.messages
            for name, value in message["headers"]
            if name == "List-Unsubscribe"
            for link in re.findall("<(http[^>]+)>", value)
        )
        texts = (link for message in self.messages for link in message["links"])
        return list(dict.fromkeys([*texts, *headers]))

    def state(self) -> list[Any]:
        """Return the tracker, the customer with its opt-ins, and the feedback of each message."""
        return [
            (
                self._row("trackers", "tracker_id", survey["trackerId"]),
                self._row("customers", "key", account_key(account, survey["customerId"])),
                self._feedback(survey["customerId"]),
            )
            for account, survey in self.surveys
        ]

    def _row(self, table: str, key: str, value: str) -> Any:
        name = self.cloud.resource_name(table)
        return self.cloud.client("dynamodb").get_item(
            TableName=name, Key={key: {"S": value}}, ConsistentRead=True
        )["Item"]

    def _feedback(self, customer_id: str) -> Any:
        return self.cloud.client("dynamodb").query(
            TableName=self.cloud.resource_name("feedback"),
            IndexName="by_customer",
            KeyConditionExpression="customer_id = :customer",
            ExpressionAttributeValues={":customer": {"S": customer_id}},
        )["Items"]


@pytest.fixture(scope="module")
def mailing(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Mailing:
    """Send surveys of the demo by e-mail and SMS, and surveys whose mails contain rating links."""
    folder = tmp_path_factory.mktemp("scanner")
    demo, own = cloud.demo["accountId"], admin(cloud, "account", "create", "Scanner").split()[-1]
    lyon, paris = cloud.demo["storeIds"][:2]
    phone_number = new_mobile_number()
    rating_stores = _create_rating_surveys(cloud, folder, own)
    purchases = {
        demo: {f"{new_id()}@example.test": lyon, phone_number: paris},
        own: {f"{new_id()}@example.test": store for store in rating_stores},
    }
    for account, store_by_address in purchases.items():
        file = folder / f"{account}.jsonl"
        file.write_text("\n".join(itertools.starmap(_purchase, store_by_address.items())))
        admin(cloud, "purchase", "import", str(file), "--account", account, "--solicit")
    addresses = {address for group in purchases.values() for address in group}

    def unsent() -> list[Any]:
        return [survey for address in addresses for survey in unsent_surveys(cloud, address)]

    wait_until(lambda: len(_messages(cloud, addresses)) == 3, opposite=unsent)
    wait_until(lambda: len(_sent_surveys(cloud, purchases.keys(), addresses)) == 3, opposite=unsent)
    surveys = _sent_surveys(cloud, purchases.keys(), addresses)
    return Mailing(cloud, _messages(cloud, addresses), surveys)


def _create_rating_surveys(cloud: Cloud, folder: Path, account: str) -> list[str]:
    """Create a store with a survey for each type of rating question. Return the stores."""
    brand, stores = new_id(), [new_id() for _ in RATED]
    definitions: list[dict[str, Any]] = [{"kind": "brand", "id": brand, "name": "Scanner"}]
    for store, question in zip(stores, RATED, strict=True):
        target = {"type": "STORE", "targetId": store, "enabled": True}
        survey = {"kind": "survey", "id": new_id(), "name": question, "language": "en"}
        rules = {"sendingChannels": ["EMAIL"], "targets": [target]}
        definitions += [
            {"kind": "store", "id": store, "brandId": brand, "name": question},
            survey | rules | {"fields": [field("score", question, required=True)]},
        ]
    file = folder / "scanner.json"
    file.write_text(json.dumps(definitions))
    admin(cloud, "definition", "load", "--yes", str(file), "--account", account)
    return stores


def _purchase(address: str, store: str) -> str:
    """Return a purchase of a new customer. Its external id is the customer's address."""
    name = "email" if "@" in address else "phoneNumber"
    purchase = {
        "source": "Site",
        "externalId": address,
        "storeId": store,
        "date": datetime.now(UTC).isoformat(),
        "customer": {name: address, "emailOptin": True, "smsOptin": True},
    }
    return json.dumps(purchase)


def _messages(cloud: Cloud, addresses: Collection[str]) -> list[dict[str, Any]]:
    response = httpx.get(cloud.demo["mailbox"], timeout=TIMEOUT_S, trust_env=False)
    return [message for message in response.json() if message["to"] in addresses]


def _sent_surveys(
    cloud: Cloud, accounts: Iterable[str], addresses: Collection[str]
) -> list[tuple[str, dict[str, Any]]]:
    return [
        (account, row)
        for account in accounts
        for row in json.loads(
            admin(cloud, "solicitation", "list", account, "--state", "sent", "--json")
        )
        if row["externalId"] in addresses
    ]


@pytest.fixture(scope="module")
def page() -> Any:
    """Start a browser that runs scripts."""
    with open_page() as page:
        page.set_default_timeout(TIMEOUT_S * 1_000)
        yield page


def test_scanner_that_opens_all_links_and_runs_scripts_changes_nothing(
    mailing: Mailing, page: Page
) -> None:
    links, before = mailing.links(), mailing.state()
    ratings = sum(RATED.values()) + DEMO_SCORES
    assert sum("/public/survey/page?" in link for link in links) == 2 + ratings
    assert sum("/public/unsubscribe?" in link for link in links) == 2
    # Text messages and text parts have short links.
    assert sum("/s/" in link for link in links) == 3 + ratings
    with httpx.Client(timeout=TIMEOUT_S, trust_env=False, follow_redirects=True) as client:
        for link in links:
            for method in ("HEAD", "GET"):
                assert client.request(method, link).status_code == 200
            opened = page.goto(link, wait_until="networkidle")
            assert opened
            assert opened.status == 200
    assert mailing.state() == before
    _submit_and_unsubscribe(page, mailing.links())
    # The states show a submission and an unsubscription.
    wait_until(lambda: sum(map(ne, before, mailing.state())) == 2)


def _submit_and_unsubscribe(page: Page, links: list[str]) -> None:
    page.goto(next(link for link in links if "a.score=satisfied" in link))
    page.locator("button.send").click()
    page.locator("form").wait_for(state="detached")
    page.goto(next(link for link in links if "/public/unsubscribe?" in link))
    page.locator("form button").click()
    page.locator("form").wait_for(state="detached")
