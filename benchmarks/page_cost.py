"""Measure the time to read the first and the last page of a short and of a very long list."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from statistics import median
from typing import Final

import httpx

from admin.domain.customers.definition import CustomerDefinition, build_customer
from admin.services.accounts.manage import create_account, issue_key
from benchmarks.capacity import consumed_capacity
from benchmarks.measurement import measured
from benchmarks.own_cloud import deploy_app, own_cloud
from benchmarks.report import Section, Table
from chalicelib.domain import clock
from chalicelib.domain.ids import derived_id
from chalicelib.domain.paging import PageRequest
from chalicelib.domain.parsing import parse
from chalicelib.services.customers.read import list_customers
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.customers import CustomerRow, build_row
from chalicelib.storage.dynamodb.table import connection

CUSTOMERS: Final = 100_000
SHORT_LIST: Final = 1_000
LIMITS: Final = (10, 100)
ROUNDS: Final = 11
LONG_LIST_ROUNDS: Final = 3
_WRITERS: Final = 3
_ROWS_PER_TASK: Final = 500

Read = Callable[[], None]


def measure() -> Section:
    """Measure the first and the last page of a short and of a long list on a local cloud."""
    rows = []
    with own_cloud():
        url = f"{deploy_app()}/partners/customer/list"
        for total, rounds in ((SHORT_LIST, ROUNDS), (CUSTOMERS, LONG_LIST_ROUNDS)):
            account_id, headers = _load(total)
            with httpx.Client(headers=headers, timeout=30, trust_env=False) as http:
                for limit, is_last in product(LIMITS, (False, True)):
                    request = PageRequest(limit=limit, page=total // limit if is_last else 1)
                    read = partial(_read, account_id, request)
                    over_http = partial(_read_over_http, http, url, request)
                    with consumed_capacity(connection().client) as consumed, measured() as cost:
                        read()
                    rows.append(
                        (
                            total,
                            request.limit,
                            request.page,
                            len(cost.requests),
                            consumed.rows,
                            consumed.read_units_by_size,
                            _median_ms(read, rounds),
                            _median_ms(over_http, rounds) if total == SHORT_LIST else None,
                        )
                    )
    return Section(
        "First and last page",
        [
            f"Pages of a list of {SHORT_LIST:,} and a list of {CUSTOMERS:,} customers, on a local"
            " cloud. 'Units by size' are the read units that DynamoDB bills for rows of"
            " these sizes: half a unit per 4 KB. The times include the service and the emulator;"
            " 'ms, gateway' is measured for the short list only.",
            Table(
                {"customers": ",", "limit": "", "page": ",", "AWS calls": "", "rows read": ""}
                | {"units by size": "g", "ms": ",.0f", "ms, gateway": ",.0f"},
                rows,
            ),
        ],
    )


def _load(total: int) -> tuple[str, dict[str, str]]:
    """Create an account with customers. Return its id, and request headers with its credentials.

    The customer rows equal the rows that the storage layer writes, with the positions 1 to
    ``total``. There are no pair rows, because the benchmark does not read them. The customers have
    no tags.
    """
    account_id = create_account("Maison Lumen").id
    credential, secret = issue_key(account_id, "benchmark")
    CounterRow(account_id, Listed.CUSTOMERS.value, total=total).save()

    def write(first: int) -> None:
        with CustomerRow.batch_write() as batch:
            for number in range(first, min(first + _ROWS_PER_TASK, total + 1)):
                batch.save(_customer_row(account_id, number))

    with ThreadPoolExecutor(_WRITERS) as writers:
        list(writers.map(write, range(1, total + 1, _ROWS_PER_TASK)))
    return account_id, {"X-API-KEY": credential.api_key, "X-API-SECRET": secret}


def _customer_row(account_id: str, number: int) -> CustomerRow:
    body = {
        "id": derived_id(account_id, str(number)),
        "firstName": "María José",
        "lastName": "García Ortiz",
        "email": f"customer-{number}@example.com",
        "phoneNumber": f"+336{number:08}",
        "language": "es",
        "civility": "Mx",
        "company": "Atelier Soleil",
        "theForkId": f"tf-{number}",
        "emailOptin": True,
        "metadata": {"import": {"loyalty": f"L-{number}", "table": "12", "floor": "terrace"}},
    }
    customer = build_customer(parse(body, CustomerDefinition), (), clock.now())
    return build_row(account_id, customer, position=number)


def _read(account_id: str, request: PageRequest) -> None:
    assert list_customers(account_id, request).meta.item_count == request.limit


def _read_over_http(http: httpx.Client, url: str, request: PageRequest) -> None:
    response = http.post(url, json={"limit": request.limit, "page": request.page})
    assert response.json()["meta"]["itemCount"] == request.limit, response.text


def _median_ms(read: Read, rounds: int) -> float:
    samples = []
    for _ in range(rounds):
        started = time.perf_counter()
        read()
        samples.append((time.perf_counter() - started) * 1000)
    return median(samples)
