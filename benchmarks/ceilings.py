"""Compute how many operations a second the hottest key of each table and index allows."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any, Final

from benchmarks import sample_account
from benchmarks.create_cost import create_one, respondent_feedback
from benchmarks.delivery_cost import new_execution
from benchmarks.own_cloud import own_cloud
from benchmarks.partition_load import (
    READ_UNITS_PER_KEY,
    WRITE_UNITS_PER_KEY,
    PartitionLoad,
    ceiling,
    partition_load,
)
from benchmarks.report import Section, Table
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.webhooks.execution import Attempt, ExecutionState, Outcome
from chalicelib.services.customers.accept_batch import accept_batch
from chalicelib.services.customers.import_chunk import import_chunk
from chalicelib.services.feedback.process import MAX_BATCH_SIZE, process_feedback
from chalicelib.settings import settings
from chalicelib.storage import counters, customer_creation, executions, feedback, imports
from chalicelib.storage.counters import Listed
from chalicelib.storage.dynamodb.table import connection
from chalicelib.web.partner.batch_body import validate_batch

COUNT: Final = 400
"""The number of operations of each kind: enough to use all shards of an account equally."""
_SHOWN_BELOW: Final = 5_000
_METHOD: Final = (
    "The units of each partition key are computed by AWS's rules from the items before and after"
    " each write. The ceiling is the rate at which the hottest key reaches AWS's limit of"
    f" {WRITE_UNITS_PER_KEY:,} write units or {READ_UNITS_PER_KEY:,} read units a second. For"
    " reads, items of up to 4 KB are assumed; queries are not included. The times are measured on"
    " this machine, without added latency."
)


@dataclass(frozen=True)
class Ceiling:
    """The maximum rate of one kind of operation, limited by the hottest key of a table or an index.

    Attributes:
        units: the units that one operation consumes on this key, on average.
        per_second: the number of operations per second at which the key reaches AWS's limit.
    """

    name: str
    kind: str
    units: float
    per_second: float


@dataclass(frozen=True)
class Operation:
    """One kind of operation of one account.

    Attributes:
        run: performs the given number of operations. It yields after each HTTP request of a client
            and after each queue message of a worker.
    """

    name: str
    run: Callable[[int], Iterator[None]]


def ceilings_of(load: PartitionLoad, count: int) -> list[Ceiling]:
    """Compute the ceilings from the load of ``count`` operations. Return the lowest first."""
    limits = (
        ("write", load.hottest_writes(), WRITE_UNITS_PER_KEY),
        ("read", load.hottest_reads(), READ_UNITS_PER_KEY),
    )
    found = [
        Ceiling(name, kind, total / count, ceiling(total / count, limit))
        for kind, hottest, limit in limits
        for name, total in hottest.items()
    ]
    return sorted(found, key=lambda each: each.per_second)


def measure() -> Section:
    """Measure the load of each operation in a temporary local cloud. Return a section."""
    with own_cloud():
        rows: list[tuple[Any, ...]] = []
        for operation in OPERATIONS:
            latencies = _latencies(operation)
            with partition_load(connection().client, settings().resource_name("")) as load:
                for _ in operation.run(COUNT):
                    pass
            for each in ceilings_of(load, COUNT):
                if each.per_second < _SHOWN_BELOW:
                    rows.append(_row(operation, each, latencies))
                    latencies = []
    return _section(rows)


def _latencies(operation: Operation) -> list[float]:
    latencies = []
    started = time.perf_counter()
    for _ in operation.run(COUNT):
        latencies.append((time.perf_counter() - started) * 1_000)
        started = time.perf_counter()
    return latencies


def create_listed(count: int) -> Iterator[None]:
    """Create customers one after the other."""
    account_id = new_id()
    for number in range(count):
        create_one(account_id, number)
        yield


def create_unlisted(count: int) -> Iterator[None]:
    """Create customers while the counter is reserved, then assign their positions."""
    account_id = new_id()
    for number in range(count):
        if number % MAX_BATCH_SIZE == 0:
            counters.reserve(account_id, Listed.CUSTOMERS, clock.now())
        create_one(account_id, number)
        yield
    keys, total = customer_creation.find_unlisted(account_id), 0
    for start in range(0, count, customer_creation.MAX_ASSIGNED):
        batch = keys[start : start + customer_creation.MAX_ASSIGNED]
        total = customer_creation.assign_positions(account_id, batch, total)


def import_rows(count: int) -> Iterator[None]:
    """Import a batch of new customers."""
    account_id = new_id()
    rows = [{"email": f"row-{n}@example.com", "firstName": "Zoé"} for n in range(count)]
    accepted = accept_batch(account_id, validate_batch({"batch": rows}))
    header = imports.find(accepted.id, clock.now())
    assert header
    for pointer in imports.list_unfinished(header.id, header.edition, clock.now()):
        import_chunk(pointer)
        yield


def submit(count: int) -> Iterator[None]:
    """Store feedback of new respondents and process it in batches."""
    account_id, form_id = sample_account.with_contact_form()
    for start in range(0, count, MAX_BATCH_SIZE):
        numbers = range(start, min(count, start + MAX_BATCH_SIZE))
        batch = [respondent_feedback(account_id, form_id, number) for number in numbers]
        for record in batch:
            feedback.create(record, None)
            yield
        process_feedback([record.id for record in batch])


def deliver(count: int) -> Iterator[None]:
    """Create executions, claim them and save their outcomes."""
    account_id, now = new_id(), clock.now()
    created = [new_execution(account_id, new_id(), new_id()) for _ in range(count)]
    executions.create(created)
    for execution in created:
        claim = executions.claim(execution.pointer, now)
        assert claim
        succeeded = Outcome(ExecutionState.SUCCEEDED)
        executions.save_outcome(claim, [Attempt(1, now, status=200)], succeeded, now)
        yield


OPERATIONS: Final = (
    Operation("create a customer", create_listed),
    Operation("create a customer without a position, and list it", create_unlisted),
    Operation("import a row (time per chunk)", import_rows),
    Operation("store and process feedback (time of storing)", submit),
    Operation("deliver a webhook", deliver),
)


def _row(operation: Operation, each: Ceiling, latencies: Sequence[float]) -> tuple[Any, ...]:
    name, p50, p99 = None, None, None
    if latencies:
        name, p50, p99 = operation.name, median(latencies), quantiles(latencies, n=100)[98]
    return (name, f"`{each.name}`", each.kind, each.units, each.per_second, p50, p99)


def _section(rows: list[tuple[Any, ...]]) -> Section:
    return Section(
        "Ceilings of one account",
        [
            f"{COUNT} operations of one account on a local cloud. {_METHOD}",
            Table(
                {"operation": "", "hottest key of": "", "units": "", "units each": ".2f"}
                | {"ceiling per second": ",.0f", "p50 ms": ".1f", "p99 ms": ".1f"},
                rows,
            ),
        ],
    )
