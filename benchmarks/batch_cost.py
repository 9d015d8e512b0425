"""Measure the speed of importing a batch of customers."""

from typing import Any, Final

import boto3

from benchmarks.measurement import Measurement, measured
from benchmarks.memory_cloud import MemoryCloud, connect, connect_to, running_cloud
from benchmarks.queue_functions import invoke, received
from benchmarks.report import Section, Table, met
from chalicelib.domain.customers.addresses import pair_of
from chalicelib.domain.customers.import_batch import ImportStatus
from chalicelib.domain.ids import new_id
from chalicelib.queues import IMPORTS
from chalicelib.services.customers.accept_batch import accept_batch, read_import
from chalicelib.services.customers.import_chunk import WORKER
from chalicelib.settings import settings
from chalicelib.web.partner.batch_body import validate_batch

ROWS: Final = 10_000
ROW_BY_ROW: Final = 500
THOUSAND: Final = 1_000
WARM_UP_ROWS: Final = 100
LATENCY_MS: Final = 10
MIN_SPEED_RATIO: Final = 10
"""Minimum ratio of this service's rows per second to those of the row-by-row importer."""

Rows = list[dict[str, Any]]


def measure() -> Section:
    """Import new customers into tables in memory. Return the results."""
    with running_cloud(LATENCY_MS) as cloud:
        connect_to(cloud)
        import_in_process(batch_of(WARM_UP_ROWS))
        with measured() as service:
            import_in_process(batch_of(ROWS))
        with measured() as row_by_row:
            import_row_by_row(boto3.client("dynamodb"), batch_of(ROW_BY_ROW))
    in_memory = MemoryCloud()
    connect(in_memory.exchange)
    with in_memory.metered() as load:
        import_in_process(batch_of(THOUSAND))
    rows = [_row("this service", service, ROWS), _row("row by row", row_by_row, ROW_BY_ROW)]
    ratio = rows[0][1] / rows[1][1]
    target = {f"at least {MIN_SPEED_RATIO} times its rate": ratio >= MIN_SPEED_RATIO}
    return Section(
        "Import of a batch",
        [
            f"{ROWS:,} new customers, each with an e-mail address and a phone number. The service"
            " accepts the batch, then receives, processes and deletes the messages in one thread,"
            f" {IMPORTS.batch_size} at a time like the deployed function. Each AWS request takes"
            f" {LATENCY_MS} ms. 'Row by row' is a plain script that looks up and puts"
            f" {ROW_BY_ROW:,} rows with boto3, without validation, merging, list positions or"
            f" progress. Target: {met(target)}: {ratio:.1f}.",
            Table(
                {"import": "", "rows per second": ",.0f", "CPU per row, µs": ",.0f"}
                | {f"requests for {THOUSAND:,} rows": ",.0f"},
                rows,
            ),
            f"{THOUSAND:,} rows take {load.read_units:,.0f} read units and"
            f" {load.write_units.total():,.0f} write units, with the units of indexes: rows are"
            " written in transactions, and a row per pair prevents duplicate customers.",
        ],
    )


def _row(name: str, cost: Measurement, rows: int) -> tuple[Any, ...]:
    requests = len(cost.requests) * THOUSAND / rows
    return name, rows / cost.seconds, cost.cpu_s / rows * 1e6, requests


def batch_of(count: int) -> Rows:
    """Build rows of new customers, each with an e-mail address and a phone number."""
    return [
        {
            "firstName": "Zoé",
            "lastName": f"Martin {number}",
            "email": f"customer-{number}@example.com",
            "phoneNumber": f"+336{number:08d}",
            "language": "fr",
            "company": "Atelier Soleil",
            "metadata": {"loyalty": f"L-{number}", "table": "12"},
        }
        for number in range(count)
    ]


def import_in_process(batch: Rows) -> None:
    """Accept a batch for a new account in this process, then process the messages of the import."""
    account_id = new_id()
    accepted = accept_batch(account_id, validate_batch({"batch": batch}))
    for bodies in received(IMPORTS):
        invoke(WORKER, bodies)
    progress = read_import(account_id, accepted.id)
    assert progress.status is ImportStatus.COMPLETED, progress
    assert progress.created == len(batch), progress


def import_row_by_row(dynamodb: Any, rows: Rows) -> None:
    """Look up each row's pair of e-mail address and phone number, and put new ones."""
    table = settings().resource_name("customer-pairs")
    for row in rows:
        pair = pair_of(row["email"], row["phoneNumber"])
        key = {"key": {"S": f"{new_id()}#{pair.digest if pair else ''}"}}
        if "Item" not in dynamodb.get_item(TableName=table, Key=key):
            customer = {name: {"S": str(value)} for name, value in row.items()}
            dynamodb.put_item(TableName=table, Item=key | customer)
