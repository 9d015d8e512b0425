"""Imports through the gateway: concurrent, and with functions killed in the middle."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Cloud

LONGEST_S = 420  # a killed chunk's message is redelivered after a visibility time-out of 90 s


@dataclass(frozen=True)
class Importer:
    """A partner who imports customers."""

    http: httpx.Client

    def post(self, path: str, body: Any) -> Any:
        """Post until the gateway responds without a 5xx, and return the body."""
        headers = {"Idempotency-Key": os.urandom(8).hex()}
        for _ in range(8):
            answer = self.http.post(path, json=body, headers=headers)
            if answer.status_code < 500:
                assert answer.status_code == 201, answer.text
                return answer.json()
            time.sleep(0.5)
        raise AssertionError(f"{path} keeps failing: {answer.status_code} {answer.text}")

    def import_rows(self, rows: list[dict[str, Any]]) -> str:
        """Send a batch and return the import's id."""
        return str(self.post("/partners/customer/batch", {"batch": rows})["id"])

    def progress(self, import_id: str) -> Any:
        """Return the progress of an import."""
        return self.http.get("/partners/customer/batch", params={"id": import_id}).json()

    def finish(self, import_id: str) -> Any:
        """Wait until an import has ended and return its progress."""
        deadline = time.monotonic() + LONGEST_S
        while time.monotonic() < deadline:
            progress = self.progress(import_id)
            if progress.get("completedAt"):
                return progress
            time.sleep(0.5)
        raise AssertionError(f"the import does not end: {progress}")

    def all_accounts(self) -> list[dict[str, Any]]:
        """Return all customers in list order, page by page."""
        first = self.list_page(1)
        pages = range(2, first["meta"]["totalPages"] + 1)
        with ThreadPoolExecutor(4) as pool:
            rest = list(pool.map(self.list_page, pages))
        customers = [customer for page in (first, *rest) for customer in page["items"]]
        assert len(customers) == first["meta"]["totalItems"]
        assert len({customer["id"] for customer in customers}) == len(customers)
        return customers

    def list_page(self, page: int) -> Any:
        return self.post("/partners/customer/list", {"limit": 100, "page": page})


@pytest.fixture
def new_importer(cloud: Cloud) -> Iterator[Callable[[], Importer]]:
    """Create partners, each of a new account."""
    with ExitStack() as clients:
        yield lambda: importer_of_a_new_account(cloud, clients)


def importer_of_a_new_account(cloud: Cloud, clients: ExitStack) -> Importer:
    account = admin(cloud, "account", "create", "Import test").split()[-1]
    issued = admin(cloud, "key", "issue", account)
    key = re.search(r"fk_[0-9a-f]{24}", issued)
    secret = re.search(r"\b[\w-]{43}\b", issued)
    assert key
    assert secret
    headers = {"X-API-KEY": key[0], "X-API-SECRET": secret[0]}
    client = httpx.Client(base_url=cloud.base_url, headers=headers, timeout=60, trust_env=False)
    return Importer(clients.enter_context(client))


def admin(cloud: Cloud, *arguments: str) -> str:
    """Run the operator's command line and return its output."""
    done = subprocess.run(
        [sys.executable, "-m", "admin", *arguments],
        env=cloud.environment(),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


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
    """Kill a function's processes and return their number."""
    processes = cloud.function_processes(function)
    for process in processes:
        os.kill(process, signal.SIGKILL)
    return len(processes)


def numbers(progress: Any) -> dict[str, int]:
    return {name: progress[name] for name in ("created", "filled", "unchanged", "failed")}


def test_batch_is_imported_once_per_idempotency_key(
    new_importer: Callable[[], Importer],
) -> None:
    importer = new_importer()
    body = {"batch": [*rows(60, "a"), rows(1, "a")[0] | {"company": "Lumen"}]}
    headers = {"Idempotency-Key": "monday"}
    answers = [
        importer.http.post("/partners/customer/batch", json=body, headers=headers) for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    progress = importer.finish(answers[0].json()["id"])
    assert numbers(progress) == {"created": 60, "filled": 1, "unchanged": 0, "failed": 0}
    customers = importer.all_accounts()
    assert [customer["firstName"] for customer in customers] == [f"a {n}" for n in range(60)]
    assert customers[0]["company"] == "Lumen"


def test_concurrent_imports_with_killed_functions_lose_no_row(
    cloud: Cloud, new_importer: Callable[[], Importer]
) -> None:
    large, *small = (new_importer() for _ in range(3))
    singles = 40

    def create_singly() -> None:
        for number in range(singles):
            large.post("/partners/customer", {"firstName": "Single", "lastName": str(number)})

    with ThreadPoolExecutor(4) as pool:
        import_id = large.import_rows(rows(10_000, "large"))
        creating = pool.submit(create_singly)
        others = [(partner, partner.import_rows(rows(1_000, "small"))) for partner in small]
        killed = 0
        for enough in (1_500, 5_000):
            deadline = time.monotonic() + LONGEST_S
            while time.monotonic() < deadline:
                progress = large.progress(import_id)
                if progress.get("created", 0) >= enough or progress.get("completedAt"):
                    break
                time.sleep(0.1)
            killed += kill(cloud, "ImportCustomers")
            kill(cloud, "APIHandler")
        progress = large.finish(import_id)
        creating.result()
        for partner, own_import in others:
            assert numbers(partner.finish(own_import))["created"] == 1_000

    assert killed
    assert progress["status"] == "COMPLETED"
    assert numbers(progress) == {"created": 10_000, "filled": 0, "unchanged": 0, "failed": 0}
    customers = large.all_accounts()
    assert len(customers) == 10_000 + singles
    assert {c["metadata"]["import"]["row"] for c in customers if c["metadata"]} == {
        str(number) for number in range(10_000)
    }
    for partner in small:
        assert len(partner.all_accounts()) == 1_000
    assert positions(cloud, large) == list(range(1, 10_000 + singles + 1))


def positions(cloud: Cloud, partner: Importer) -> list[int]:
    """Return the positions of the partner's customers from the table."""
    own_id = partner.list_page(1)["items"][0]["id"]
    dynamodb = cloud.client("dynamodb")
    found: dict[str, list[int]] = {}
    owners: dict[str, str] = {}
    for page in dynamodb.get_paginator("scan").paginate(
        TableName=cloud.resource_name("customers"),
        ProjectionExpression="id, account_id, #p",
        ExpressionAttributeNames={"#p": "position"},
    ):
        for item in page["Items"]:
            account = item["account_id"]["S"]
            found.setdefault(account, []).append(int(item["position"]["N"]))
            owners[item["id"]["S"]] = account
    return sorted(found[owners[own_id]])
