"""A client with which a partner imports customers through the gateway."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx

from tests.e2e.admin import admin
from tests.e2e.cloud import TIMEOUT_S, Cloud

MAX_WAIT_S = 600
"""Maximum duration of an import, long enough for a slow machine."""


@dataclass(frozen=True)
class Importer:
    """A client of a partner with a new account."""

    http: httpx.Client

    def post(self, path: str, body: Any) -> Any:
        """Send a request and return the response body. After a server error, retry the request."""
        headers = {"Idempotency-Key": os.urandom(8).hex()}
        for _ in range(8):
            response = self.http.post(path, json=body, headers=headers)
            if response.status_code < 500:
                assert response.status_code == 201, response.text
                return response.json()
            time.sleep(0.5)
        raise AssertionError(
            f"All requests to {path} failed: {response.status_code} {response.text}"
        )

    def import_rows(self, rows: list[dict[str, Any]]) -> str:
        """Send a batch and return the id of the import."""
        return str(self.post("/partners/customer/batch", {"batch": rows})["id"])

    def progress(self, import_id: str) -> Any:
        """Return the progress of an import."""
        return self.http.get("/partners/customer/batch", params={"id": import_id}).json()

    def finish(self, import_id: str) -> Any:
        """Wait until the import is completed or failed, and return its progress."""
        deadline = time.monotonic() + MAX_WAIT_S
        while time.monotonic() < deadline:
            progress = self.progress(import_id)
            if progress.get("completedAt"):
                return progress
            time.sleep(0.5)
        raise AssertionError(f"The import did not end: {progress}")

    def all_customers(self) -> list[dict[str, Any]]:
        """Return all customers in list order.

        Check that the number of customers equals the total that every page reports.
        """
        first = self.list_page(1)
        pages = range(2, first["meta"]["totalPages"] + 1)
        with ThreadPoolExecutor(4) as pool:
            other_pages = list(pool.map(self.list_page, pages))
        customers = [customer for page in (first, *other_pages) for customer in page["items"]]
        assert len(customers) == first["meta"]["totalItems"]
        assert len({customer["id"] for customer in customers}) == len(customers)
        return customers

    def list_page(self, page: int) -> Any:
        return self.post("/partners/customer/list", {"limit": 100, "page": page})


def customer_rows(count: int, name: str) -> list[dict[str, Any]]:
    """Return rows of a batch, each for a new customer."""
    return [
        {
            "email": f"{name}{number}@example.test",
            "phoneNumber": f"+336{number:08d}",
            "firstName": f"{name} {number}",
            "metadata": {"row": str(number)},
        }
        for number in range(count)
    ]


def open_importer(cloud: Cloud, clients: ExitStack, account: str) -> Importer:
    """Return a client with an API key of the account."""
    key = json.loads(admin(cloud, "key", "issue", account, "--json"))
    client = httpx.Client(
        base_url=cloud.base_url,
        headers={"X-API-KEY": key["apiKey"], "X-API-SECRET": key["apiSecret"]},
        timeout=TIMEOUT_S,
        trust_env=False,
    )
    return Importer(clients.enter_context(client))


def create_importer(cloud: Cloud, clients: ExitStack) -> Importer:
    """Return a client with an API key of a new account."""
    return open_importer(cloud, clients, admin(cloud, "account", "create", "Import").split()[-1])
