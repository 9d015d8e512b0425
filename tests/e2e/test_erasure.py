"""Test that an erasure removes a unique text that was stored in every personal field."""

import json
import os
import time
from collections.abc import Iterator
from typing import Any

from tests.e2e.admin import admin
from tests.e2e.cloud import Cloud
from tests.e2e.demo_messages import new_mobile_number
from tests.e2e.receiver_process import ReceiverProcess
from tests.e2e.shop import Person, Shop, erase, plant, queued
from tests.services.erasure.stored import table_texts

MAILBOX = {"mail", "messages.log"}
"""The files that stand for the mailbox of the person."""


def contents(cloud: Cloud, started: float) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each row, message, object, log line and file of the cloud.

    Args:
        started: the epoch time in seconds before which logs and files are not read.
    """
    yield from table_texts(cloud.client("dynamodb"))
    yield from queued(cloud)
    yield from objects(cloud.client("s3"), started)
    logs = cloud.client("logs")
    for page in logs.get_paginator("describe_log_groups").paginate():
        for group in page["logGroups"]:
            events = logs.get_paginator("filter_log_events").paginate(
                logGroupName=group["logGroupName"], startTime=int(started * 1000)
            )
            for found in events:
                for event in found["events"]:
                    yield group["logGroupName"], event["message"]
    for path in cloud.folder.rglob("*"):
        if path.is_file() and path.stat().st_mtime >= started:
            relative = path.relative_to(cloud.folder)
            yield relative.parts[0], f"{relative} {path.read_text(errors='replace')}"


def objects(s3: Any, started: float) -> Iterator[tuple[str, str]]:
    for bucket in s3.list_buckets()["Buckets"]:
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket["Name"]):
            for item in page.get("Contents", []):
                if item["LastModified"].timestamp() >= started:
                    body = s3.get_object(Bucket=bucket["Name"], Key=item["Key"])["Body"].read()
                    yield f"s3://{bucket['Name']}/{item['Key']}", body.decode(errors="replace")


def copies(cloud: Cloud, person: Person, started: float) -> set[str]:
    """Return the places that contain data of the person."""
    prefix = cloud.resource_name("")
    return {
        place.removeprefix(prefix) for place, text in contents(cloud, started) if person.is_in(text)
    }


def test_only_copies_on_receipt_contain_erased_person(
    cloud: Cloud, shop: Shop, receiver_process: ReceiverProcess
) -> None:
    started = time.time() - 1
    person = Person(f"canary{os.urandom(6).hex()}", new_mobile_number())
    plant(shop, person, receiver_process)
    stored = copies(cloud, person, started)
    assert stored >= {"customers", "purchases", "feedback", "purchases-dead", *MAILBOX}
    listed = admin(cloud, "customer", "find", shop.account_id, "--email", person.email, "--json")
    customer_ids = [customer["id"] for customer in json.loads(listed)]
    assert len(customer_ids) == 2
    receipts = [erase(shop, customer_id) for customer_id in customer_ids]
    assert [receipt["state"] for receipt in receipts] == ["DONE", "DONE"]
    remaining = {copy["copy"] for copy in receipts[0]["remainingCopies"]}
    assert "messages in queues and dead-letter queues" in remaining
    assert copies(cloud, person, started) == {"purchases-dead", *MAILBOX}
