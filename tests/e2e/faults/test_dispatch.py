"""Test that surveys are sent at most once while functions are killed and DynamoDB throttles."""

import json
import os
import random
import re
import signal
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any

import httpx

from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.solicitation import INTERRUPTED
from chalicelib.queues import PURCHASES as PURCHASES_QUEUE
from chalicelib.services.solicitation.send_survey import WORKER
from tests.e2e.admin import admin
from tests.e2e.cloud import TIMEOUT_S, Cloud
from tests.e2e.injected_faults import injected_faults
from tests.e2e.queue_settings import early_redelivery, few_processes
from tests.e2e.sweeping import end_waits, sweep_until_finished
from tests.waiting import wait_until

PURCHASES = int(os.environ.get("DISPATCH_PURCHASES") or 80)
CUSTOMERS = max(1, PURCHASES // 4)
RATES = {"throttling": 0.05, "conflicts": 0.05, "index_lag": 0.1}
MAX_WAIT_S = 1800
KILLED_AFTER = (0.1, 0.4, 0.7)
"""The shares of the customers' messages after which the functions are killed."""


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


def mail_files(cloud: Cloud) -> int:
    return len(list((cloud.folder / "mail").glob("*.eml")))


def kill_after_messages(cloud: Cloud, shop: Shop, number: int) -> int:
    """Kill the senders when this number of e-mails is in the mailbox. Return how many are killed.

    A sender has just sent the last one, and has not stored this yet. Nobody is killed if all
    surveys end before: an earlier kill can prevent messages.
    """
    known = time.monotonic()
    processes = cloud.function_processes("send_survey")
    deadline = known + MAX_WAIT_S
    while mail_files(cloud) < number:
        assert time.monotonic() < deadline
        if time.monotonic() > known + 1:
            if count(cloud, shop) == PURCHASES and not count(cloud, shop, "PENDING"):
                return 0
            known, processes = time.monotonic(), cloud.function_processes("send_survey")
        time.sleep(0.001)
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return len(processes)


def test_no_customer_receives_two_surveys_despite_kills_and_throttling(
    cloud: Cloud, tmp_path: Path
) -> None:
    shop = open_shop(cloud, tmp_path)
    started = time.monotonic()
    killed, before = 0, mail_files(cloud)
    with (
        injected_faults(cloud, **RATES) as injected,
        early_redelivery(cloud, PURCHASES_QUEUE),
        few_processes(cloud, PURCHASES_QUEUE),
    ):
        send_twice(cloud, [shop.message(number) for number in range(PURCHASES)])
        for share in KILLED_AFTER:
            killed += kill_after_messages(cloud, shop, before + ceil(share * CUSTOMERS))
            time.sleep(1)  # requests of the killed functions end
            end_waits(cloud, "solicitations", "leased_until")
        for process in cloud.function_processes("record_purchase"):
            os.kill(process, signal.SIGKILL)
        wait_until(lambda: count(cloud, shop) == PURCHASES, MAX_WAIT_S, pause_s=1)

    sweep_until_finished(lambda: count(cloud, shop, "PENDING"), MAX_WAIT_S)
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
