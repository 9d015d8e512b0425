"""Measure the time to read the first and the last page of a short and of a very long list."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Final

import httpx

from benchmarks import many_customers
from benchmarks.consumed_capacity import Consumed, consumed_capacity
from benchmarks.own_cloud import deploy_app, long_read_timeout, own_cloud
from benchmarks.report import Section, Table
from benchmarks.sample_account_id import ACCOUNT_ID, SMALL_ACCOUNT_ID
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.paging import PageRequest
from chalicelib.services.customers.read import list_customers
from chalicelib.storage.dynamodb.table import connection

CUSTOMERS: Final = 100_000
SHORT_LIST: Final = 1_000
LIMITS: Final = (10, 100)
ROUNDS: Final = 11
LONG_LIST_ROUNDS: Final = 3

Read = Callable[[], None]


@dataclass(frozen=True)
class PageCost:
    """The cost of one page of a list.

    Attributes:
        total: the number of customers in the list.
        calls: the number of AWS requests.
        in_process_ms: the duration of a read without the gateway.
        through_gateway_ms: the duration of a request through the gateway; None if not measured.
    """

    total: int
    request: PageRequest
    calls: int
    consumed: Consumed
    in_process_ms: float
    through_gateway_ms: float | None = None


def measure(customers: int = CUSTOMERS) -> Section:
    """Measure the first and the last page of a short and of a long customer list on a local cloud.

    Args:
        customers: the number of customers in the long list.
    """
    with long_read_timeout(), own_cloud() as cloud:
        headers = many_customers.load(SMALL_ACCOUNT_ID, SHORT_LIST)
        url = f"{deploy_app(cloud)}/partners/customer/list"
        with httpx.Client(headers=headers, timeout=30, trust_env=False) as http:
            short_list = [
                _cost(SMALL_ACCOUNT_ID, SHORT_LIST, request, ROUNDS, _over_http(http, url, request))
                for request in _first_and_last_pages(SHORT_LIST)
            ]
        many_customers.load(ACCOUNT_ID, customers)
        long_list = [
            _cost(ACCOUNT_ID, customers, request, LONG_LIST_ROUNDS)
            for request in _first_and_last_pages(customers)
        ]
    return _section(customers, [*short_list, *long_list])


def _first_and_last_pages(total: int) -> list[PageRequest]:
    return [PageRequest(limit=limit, page=page) for limit in LIMITS for page in (1, total // limit)]


def _over_http(http: httpx.Client, url: str, request: PageRequest) -> Read:
    def read() -> None:
        response = http.post(url, json={"limit": request.limit, "page": request.page})
        assert response.json()["meta"]["itemCount"] == request.limit, response.text

    return read


def _cost(
    account_id: str,
    total: int,
    request: PageRequest,
    rounds: int,
    read_over_http: Read | None = None,
) -> PageCost:
    def read() -> None:
        assert list_customers(account_id, request).meta.item_count == request.limit

    with consumed_capacity(connection().client) as consumed, counted_calls() as calls:
        read()
    return PageCost(
        total,
        request,
        calls.total(),
        consumed,
        _median_ms(read, rounds),
        _median_ms(read_over_http, rounds) if read_over_http else None,
    )


def _median_ms(read: Read, rounds: int) -> float:
    samples = []
    for _ in range(rounds):
        started = time.perf_counter()
        read()
        samples.append((time.perf_counter() - started) * 1000)
    return median(samples)


def _section(customers: int, costs: list[PageCost]) -> Section:
    return Section(
        "First and last page",
        [
            f"Pages of a list of {SHORT_LIST:,} and a list of {customers:,} customers, on a local"
            " cloud. 'Units reported' are the read units that the emulator reports, the same number"
            " for every query. 'Units by size' are the read units that DynamoDB bills for rows of"
            " these sizes: half a unit per 4 KB. The times include the service and the emulator;"
            " 'ms, gateway' is measured for the short list only. The emulator sorts the complete"
            " list for each query, so its time grows with the list. DynamoDB seeks in an index"
            " instead.",
            Table(
                (
                    "customers",
                    "limit",
                    "page",
                    "AWS calls",
                    "rows read",
                    "units reported",
                    "units by size",
                    "ms",
                    "ms, gateway",
                ),
                [_row(cost) for cost in costs],
            ),
        ],
    )


def _row(cost: PageCost) -> tuple[str, ...]:
    over_http = cost.through_gateway_ms
    return (
        f"{cost.total:,}",
        f"{cost.request.limit}",
        f"{cost.request.page:,}",
        str(cost.calls),
        str(cost.consumed.rows),
        f"{cost.consumed.read_units:g}",
        f"{cost.consumed.read_units_by_size:g}",
        f"{cost.in_process_ms:,.0f}",
        "" if over_http is None else f"{over_http:,.0f}",
    )
