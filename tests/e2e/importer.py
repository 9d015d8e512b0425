"""A client with which a partner imports customers through the gateway."""

import os
import re
import time
from collections.abc import Callable
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

    def wait_until_listed(self, count: int, sweep: Callable[[], None] = lambda: None) -> None:
        """Wait until the list has ``count`` customers.

        If a process was killed after it created customers, only a sweep lists them.
        """
        deadline = time.monotonic() + MAX_WAIT_S
        while (total := self.list_page(1)["meta"]["totalItems"]) < count:
            assert time.monotonic() < deadline, f"{total} of {count} customers are listed"
            sweep()
            time.sleep(0.5)

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


def issue_key(cloud: Cloud, account: str) -> dict[str, str]:
    """Issue an API key for an account. Return the request headers with its credentials."""
    issued = admin(cloud, "key", "issue", account)
    key = re.search(r"fk_[0-9a-f]{24}", issued)
    # A secret can start or end with a hyphen, which is no word boundary.
    secret = re.search(r"(?<![\w-])[\w-]{43}(?![\w-])", issued)
    assert key
    assert secret
    return {"X-API-KEY": key[0], "X-API-SECRET": secret[0]}


def create_importer(cloud: Cloud, clients: ExitStack) -> Importer:
    account = admin(cloud, "account", "create", "Import test").split()[-1]
    client = httpx.Client(
        base_url=cloud.base_url,
        headers=issue_key(cloud, account),
        timeout=TIMEOUT_S,
        trust_env=False,
    )
    return Importer(clients.enter_context(client))
