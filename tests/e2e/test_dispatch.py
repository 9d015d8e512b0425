"""Test that surveys are sent at most once while functions are killed and DynamoDB throttles."""

import json
import os
import random
import re
import signal
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.solicitation import INTERRUPTED
from chalicelib.queues import PURCHASES as PURCHASES_QUEUE
from chalicelib.services.solicitation.send_survey import WORKER
from tests.e2e.admin import admin
from tests.e2e.cloud import TIMEOUT_S, Cloud
from tests.e2e.faults import injected_faults
from tests.e2e.public_forms import wait_until
from tests.e2e.queue_settings import early_redelivery, few_processes
from tests.e2e.sweeping import sweep_until_finished

PURCHASES = int(os.environ.get("DISPATCH_PURCHASES") or 400)
CUSTOMERS = max(1, PURCHASES // 4)
RATES = {"throttling": 0.05, "conflicts": 0.05, "index_lag": 0.1}
MAX_WAIT_S = 1800
FUNCTIONS = ("record_purchase", "send_survey")


@dataclass(frozen=True)
class Shop:
    """An account with a store and a private survey that is sent by e-mail."""

    account_id: str
    store_id: str
    survey_id: str
    field_id: str

    def message(self, number: int) -> str:
        """Return a message of the purchases queue. Each customer makes four purchases."""
        email = f"customer{number % CUSTOMERS}-{self.account_id[:8]}@example.test"
        purchase = {
            "source": "Site",
            "externalId": str(number),
            "storeId": self.store_id,
            "date": datetime.now(UTC).isoformat(),
            "customer": {"email": email, "emailOptin": True},
        }
        return json.dumps({"accountId": self.account_id, "purchase": purchase})


def open_shop(cloud: Cloud, folder: Path) -> Shop:
    created = admin(cloud, "account", "create", "Dispatch test")
    account = re.findall(r"[0-9a-f-]{36}", created)[-1]
    brand, store, survey, field = new_id(), new_id(), new_id(), new_id()
    definitions: list[dict[str, Any]] = [
        {"kind": "brand", "id": brand, "name": "Brand"},
        {"kind": "store", "id": store, "name": "Store", "brandId": brand},
        {
            "kind": "survey",
            "id": survey,
            "name": "Survey",
            "language": "en",
            "enabled": True,
            "sendingChannels": ["EMAIL"],
            "resolicitationDelay": 30 * 24 * 3600,
            "fields": [{"id": field, "key": "nps", "type": "NPS"}],
            "targets": [{"type": "STORE", "targetId": store}],
        },
    ]
    file = folder / "definitions.json"
    file.write_text(json.dumps(definitions))
    admin(cloud, "definition", "load", "--yes", str(file), "--account", account)
    return Shop(account, store, survey, field)


def send_twice(cloud: Cloud, bodies: Sequence[str]) -> None:
    """Send every message two times, in random order."""
    sqs = cloud.client("sqs")
    url = sqs.get_queue_url(QueueName=cloud.resource_name("purchases"))["QueueUrl"]
    shuffled = [*bodies, *bodies]
    random.Random(1).shuffle(shuffled)
    for start in range(0, len(shuffled), 10):
        entries = [
            {"Id": str(number), "MessageBody": body}
            for number, body in enumerate(shuffled[start : start + 10])
        ]
        sqs.send_message_batch(QueueUrl=url, Entries=entries)


def solicitations(cloud: Cloud, shop: Shop) -> list[dict[str, Any]]:
    listed = admin(cloud, "solicitation", "list", shop.account_id, "--json", "--limit", "100000")
    rows: list[dict[str, Any]] = json.loads(listed)
    return rows


def count(cloud: Cloud, shop: Shop, state: str = "") -> int:
    """Return the number of the shop's solicitations, or of those in one state."""
    of_state = {
        "FilterExpression": "#state = :state",
        "ExpressionAttributeNames": {"#state": "state"},
    }
    values = {":account": {"S": shop.account_id}} | ({":state": {"S": state}} if state else {})
    paginator = cloud.client("dynamodb").get_paginator("query")
    pages = paginator.paginate(
        TableName=cloud.resource_name("solicitations"),
        IndexName="by_account",
        Select="COUNT",
        KeyConditionExpression="account_id = :account",
        ExpressionAttributeValues=values,
        **(of_state if state else {}),
    )
    return sum(page["Count"] for page in pages)


def mails(cloud: Cloud, shop: Shop) -> list[dict[str, Any]]:
    """Return the messages to the customers of the shop."""
    response = httpx.get(cloud.demo["mailbox"], timeout=TIMEOUT_S, trust_env=False)
    return [mail for mail in response.json() if shop.account_id[:8] in str(mail["to"])]


def test_no_customer_receives_two_surveys_despite_kills_and_throttling(
    cloud: Cloud, tmp_path: Path
) -> None:
    shop = open_shop(cloud, tmp_path)
    started = time.monotonic()
    killed = 0
    with (
        injected_faults(cloud, **RATES) as injected,
        early_redelivery(cloud, PURCHASES_QUEUE),
        few_processes(cloud, PURCHASES_QUEUE),
        ThreadPoolExecutor() as pool,
    ):
        bodies = [shop.message(number) for number in range(PURCHASES)]
        sending = pool.submit(send_twice, cloud, bodies)
        for share in (0.2, 0.6):
            wait_until(
                lambda share=share: count(cloud, shop) >= share * PURCHASES,  # type: ignore[misc]
                MAX_WAIT_S,
                pause_s=1,
            )
            for function in FUNCTIONS:
                for process in cloud.function_processes(function):
                    os.kill(process, signal.SIGKILL)
                    killed += 1
        sending.result()
        wait_until(lambda: count(cloud, shop) == PURCHASES, MAX_WAIT_S, pause_s=1)

    sweep_until_finished(cloud, lambda: count(cloud, shop, "PENDING"), MAX_WAIT_S)
    rows = solicitations(cloud, shop)
    states = Counter(row["state"] for row in rows)
    received = Counter(str(mail["to"]) for mail in mails(cloud, shop))
    print(  # noqa: T201 - report measurements
        f"\n{PURCHASES} purchases of {CUSTOMERS} customers in {time.monotonic() - started:.0f} s:"
        f" {dict(states)}; {killed} functions killed, injected {injected}"
    )
    assert killed
    assert all(injected[kind] for kind in ("throttling", "conflicts"))
    assert len(rows) == PURCHASES
    assert set(received.values()) == {1}
    assert states["SENT"] + states["UNKNOWN"] + states["SKIPPED"] == PURCHASES
    assert states["SENT"] <= len(received) <= states["SENT"] + states["UNKNOWN"]
    # Each customer has one claim. The outcome is UNKNOWN only if the function was killed.
    assert states["SENT"] + states["UNKNOWN"] == CUSTOMERS
    assert states["UNKNOWN"] <= killed * WORKER.max_concurrency
    for row in rows:
        expected = {"SENT": None, "UNKNOWN": INTERRUPTED, "SKIPPED": "ALREADY_SOLICITED"}
        assert row["reason"] == expected[row["state"]]


def test_submission_through_mailed_tracker_belongs_to_purchase_and_customer(
    cloud: Cloud, tmp_path: Path
) -> None:
    shop = open_shop(cloud, tmp_path)
    purchases = tmp_path / "purchases.jsonl"
    purchases.write_text(json.dumps(json.loads(shop.message(0))["purchase"]))
    admin(cloud, "purchase", "import", str(purchases), "--account", shop.account_id, "--solicit")
    wait_until(lambda: [row["state"] for row in solicitations(cloud, shop)] == ["SENT"], 60)
    (row,) = solicitations(cloud, shop)
    (mail,) = mails(cloud, shop)
    assert any(row["trackerId"] in link for link in mail["links"])
    view = cloud.http.get(
        "/public/survey", params={"survey": shop.survey_id, "tracker": row["trackerId"]}
    )
    assert view.json()["order"] == "0"
    fields = json.dumps([{"id": shop.field_id, "values": ["9"]}])
    parts = {"id": shop.survey_id, "tracker": row["trackerId"], "fields": fields}
    files = {name: (None, value) for name, value in parts.items()}
    assert cloud.http.post("/public/survey/submit", files=files).status_code == 201

    def feedback_count() -> int:
        shown = admin(cloud, "purchase", "show", shop.account_id, "Site", "0")
        return int(json.loads(shown)["customer"]["feedbackCount"])

    wait_until(lambda: feedback_count() == 1, 60)
