"""Tests of imports through the gateway: duplicates, concurrent imports and killed functions."""

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from chalicelib.queues import IMPORTS
from tests.e2e.cloud import Cloud
from tests.e2e.importer import MAX_WAIT_S, Importer
from tests.e2e.queue_settings import early_redelivery
from tests.e2e.sweeping import sweep

ROWS = 1_000
SMALL_ROWS = 100


def rows(count: int, name: str) -> list[dict[str, Any]]:
    return [
        {
            "email": f"{name}{number}@example.test",
            "phoneNumber": f"+336{number:08d}",
            "firstName": f"{name} {number}",
            "metadata": {"row": str(number)},
        }
        for number in range(count)
    ]


def kill(cloud: Cloud, function: str) -> int:
    """Kill the processes of a function and return the number of killed processes."""
    processes = cloud.function_processes(function)
    for process in processes:
        os.kill(process, signal.SIGKILL)
    return len(processes)


def outcome_counts(progress: Any) -> dict[str, int]:
    return {name: progress[name] for name in ("created", "filled", "unchanged", "failed")}


def test_batches_with_same_idempotency_key_are_imported_once(
    new_importer: Callable[[], Importer],
) -> None:
    importer = new_importer()
    body = {"batch": [*rows(60, "a"), rows(1, "a")[0] | {"company": "Lumen"}]}
    headers = {"Idempotency-Key": "monday"}
    responses = [
        importer.http.post("/partners/customer/batch", json=body, headers=headers) for _ in range(2)
    ]
    assert [response.status_code for response in responses] == [201, 201]
    assert len({response.json()["id"] for response in responses}) == 1
    progress = importer.finish(responses[0].json()["id"])
    assert outcome_counts(progress) == {"created": 60, "filled": 1, "unchanged": 0, "failed": 0}
    customers = importer.all_customers()
    assert [customer["firstName"] for customer in customers] == [f"a {n}" for n in range(60)]
    assert customers[0]["company"] == "Lumen"


def test_concurrent_imports_lose_no_row_when_functions_are_killed(
    cloud: Cloud, new_importer: Callable[[], Importer]
) -> None:
    large, *small = (new_importer() for _ in range(3))
    singles = 40

    def create_singly() -> None:
        for number in range(singles):
            large.post("/partners/customer", {"firstName": "Single", "lastName": str(number)})

    with early_redelivery(cloud, IMPORTS), ThreadPoolExecutor(4) as pool:
        import_id = large.import_rows(rows(ROWS, "large"))
        creation = pool.submit(create_singly)
        others = [(partner, partner.import_rows(rows(SMALL_ROWS, "small"))) for partner in small]
        killed = 0
        for enough in (ROWS * 0.15, ROWS * 0.5):
            deadline = time.monotonic() + MAX_WAIT_S
            while time.monotonic() < deadline:
                progress = large.progress(import_id)
                if progress.get("created", 0) >= enough or progress.get("completedAt"):
                    break
                time.sleep(0.1)
            killed += kill(cloud, "import_customers")
            kill(cloud, "api_handler")
        progress = large.finish(import_id)
        creation.result()
        for partner, small_import in others:
            assert outcome_counts(partner.finish(small_import))["created"] == SMALL_ROWS

    assert killed
    assert progress["status"] == "COMPLETED"
    assert outcome_counts(progress) == {"created": ROWS, "filled": 0, "unchanged": 0, "failed": 0}
    large.wait_until_listed(ROWS + singles, partial(sweep, cloud))
    customers = large.all_customers()
    assert len(customers) == ROWS + singles
    assert {c["metadata"]["import"]["row"] for c in customers if c["metadata"]} == {
        str(number) for number in range(ROWS)
    }
    for partner in small:
        assert len(partner.all_customers()) == SMALL_ROWS
    assert positions(cloud, large) == list(range(1, ROWS + singles + 1))


def positions(cloud: Cloud, partner: Importer) -> list[int]:
    """Return the list positions of the partner's customers, read from the table."""
    customer_id = partner.list_page(1)["items"][0]["id"]
    dynamodb = cloud.client("dynamodb")
    positions_by_account: dict[str, list[int]] = {}
    owners: dict[str, str] = {}
    for page in dynamodb.get_paginator("scan").paginate(
        TableName=cloud.resource_name("customers"),
        ProjectionExpression="id, account_id, #p",
        ExpressionAttributeNames={"#p": "position"},
    ):
        for item in page["Items"]:
            account = item["account_id"]["S"]
            positions_by_account.setdefault(account, []).append(int(item["position"]["N"]))
            owners[item["id"]["S"]] = account
    return sorted(positions_by_account[owners[customer_id]])
