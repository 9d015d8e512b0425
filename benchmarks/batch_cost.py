"""Measure the speed of importing a batch of customers; compare it with a row-by-row importer."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, Final

import boto3
import httpx
from boto3.dynamodb.types import TypeSerializer

from admin.services.accounts.manage import create_account, issue_key
from benchmarks.capacity import consumed_capacity
from benchmarks.measurement import measured
from benchmarks.own_cloud import deploy_app, own_cloud
from benchmarks.queue_functions import invoke, received
from benchmarks.report import Section, Table, met
from chalicelib.domain import clock
from chalicelib.domain.customers.import_batch import ImportStatus
from chalicelib.domain.customers.pair import pair_of
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.queues import IMPORTS
from chalicelib.services.customers.accept_batch import accept_batch, read_import
from chalicelib.services.customers.import_chunk import WORKER
from chalicelib.storage.dynamodb.table import connection
from chalicelib.web.partner.batch_body import validate_batch

ROWS: Final = 10_000
ROW_BY_ROW_ROWS: Final = 1_000
WARM_UP_ROWS: Final = 100
DELAYS_MS: Final = (0, 5)
MIN_SPEED_RATIOS: Final = (5, 10)
"""Minimum ratio of this service's rows per second to those of the row-by-row importer.

The first value applies to imports through the gateway, the second to imports in process with the
longest delay in `DELAYS_MS`.
"""
MAX_REQUEST_RATIO: Final = 0.1
"""Maximum ratio of this service's AWS requests to those of the row-by-row importer."""

GATEWAY: Final = "this service, through the gateway"
IN_PROCESS: Final = "this service, in process"
ROW_BY_ROW: Final = "row by row, in process"

TABLE: Final = "row-by-row-customers"
_INDEX: Final = "by_pair"
_serialize: Final = TypeSerializer().serialize
_TIMEOUT: Final = timedelta(minutes=5)
_POLL_INTERVAL_S: Final = 1.0

Rows = list[dict[str, Any]]


def measure() -> Section:
    """Import new customers with each importer into a temporary local cloud. Return the results."""
    runs: dict[tuple[str, int], tuple[int, float]] = {}
    per_thousand: dict[str, list[float]] = {}
    with own_cloud():
        dynamodb = boto3.client("dynamodb")
        create_table(dynamodb)

        def row_by_row(batch: Rows) -> None:
            import_row_by_row(dynamodb, new_id(), batch)

        row_by_row(batch_of(WARM_UP_ROWS))
        import_in_process(batch_of(WARM_UP_ROWS))
        importers: dict[str, tuple[Any, int, Callable[[Rows], None]]] = {
            IN_PROCESS: (connection().client, ROWS, import_in_process),
            ROW_BY_ROW: (dynamodb, ROW_BY_ROW_ROWS, row_by_row),
        }
        for added_ms, (name, (client, count, run)) in product(DELAYS_MS, importers.items()):
            batch = batch_of(count)
            with consumed_capacity(client) as consumed, measured(added_ms) as cost:
                run(batch)
            runs[name, added_ms] = count, cost.seconds
            if not added_ms:
                requests = len(cost.requests)
                sqs = sum(target.startswith("AmazonSQS") for target in cost.requests)
                units = consumed.read_units_by_size, consumed.write_units
                figures = requests, requests - sqs, sqs, *units
                per_thousand[name] = [figure * 1000 / count for figure in figures]
        url = deploy_app()
        _through_gateway(url, batch_of(WARM_UP_ROWS))
        through_gateway = {(GATEWAY, 0): (ROWS, _through_gateway(url, batch_of(ROWS)))}
    return _section(through_gateway | runs, per_thousand)


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
        assert not invoke(WORKER, bodies)
    progress = read_import(account_id, accepted.id)
    assert progress.status is ImportStatus.COMPLETED, progress
    assert progress.created == len(batch), progress


def create_table(dynamodb: Any) -> None:
    """Create the table of the row-by-row importer, and wait until it is active."""
    dynamodb.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "pair", "AttributeType": "S"},
        ],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": _INDEX,
                "KeySchema": [{"AttributeName": "pair", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    )
    dynamodb.get_waiter("table_exists").wait(TableName=TABLE)


def import_row_by_row(dynamodb: Any, account_id: str, rows: Rows) -> None:
    """Import the rows with plain boto3, as a baseline.

    For each row, look up the customer with the row's pair of e-mail address and phone number, and
    create the customer if there is none. Two imports at the same time can create a customer twice.
    """
    for row in rows:
        pair = pair_of(row["email"], row["phoneNumber"])
        assert pair
        key = f"{account_id}#{pair.digest}"
        found = dynamodb.query(
            TableName=TABLE,
            IndexName=_INDEX,
            KeyConditionExpression="pair = :pair",
            ExpressionAttributeValues={":pair": {"S": key}},
            Limit=1,
        )
        if found["Items"]:
            continue
        created_at = format_timestamp(clock.now())
        customer = row | {
            "id": new_id(),
            "pair": key,
            "accountId": account_id,
            "createdAt": created_at,
            "updatedAt": created_at,
        }
        item = {name: _serialize(value) for name, value in customer.items()}
        dynamodb.put_item(TableName=TABLE, Item=item)


def _through_gateway(base_url: str, batch: Rows) -> float:
    """Import a batch. Return the seconds from the request until the import is completed."""
    account = create_account("Maison Lumen")
    credential, secret = issue_key(account.id, "benchmark")
    headers = {"X-API-KEY": credential.api_key, "X-API-SECRET": secret}
    url = f"{base_url}/partners/customer/batch"
    with httpx.Client(headers=headers, timeout=60, trust_env=False) as http:
        started = datetime.now(UTC)
        accepted = http.post(url, json={"batch": batch})
        assert accepted.status_code == 201, accepted.text
        import_id = accepted.json()["id"]
        while datetime.now(UTC) - started < _TIMEOUT:
            time.sleep(_POLL_INTERVAL_S)
            progress = http.get(url, params={"id": import_id}).json()
            if progress["status"] == ImportStatus.COMPLETED.value:
                assert progress["created"] == len(batch), progress
                ended = datetime.fromisoformat(progress["completedAt"])
                return (ended - started).total_seconds()
    raise AssertionError(f"The import did not finish: {progress}")


def _section(
    runs: dict[tuple[str, int], tuple[int, float]], per_thousand: dict[str, list[float]]
) -> Section:
    """Return the section of the report.

    Args:
        runs: the rows and the seconds of each import, by importer and added delay.
        per_thousand: the requests and the capacity units for 1,000 rows, by importer.
    """
    speeds = {run: rows / seconds for run, (rows, seconds) in runs.items()}
    ratios = {
        (name, added): speed / speeds[ROW_BY_ROW, added] for (name, added), speed in speeds.items()
    }
    request_ratio = per_thousand[IN_PROCESS][0] / per_thousand[ROW_BY_ROW][0]
    network_ms = DELAYS_MS[-1]
    gateway, in_process = ratios[GATEWAY, 0], ratios[IN_PROCESS, network_ms]
    speed_targets = {
        f"at least {MIN_SPEED_RATIOS[0]} through the gateway, measured {gateway:.1f}": gateway
        >= MIN_SPEED_RATIOS[0],
        f"at least {MIN_SPEED_RATIOS[1]} in process with {network_ms} ms added, measured"
        f" {in_process:.1f}": in_process >= MIN_SPEED_RATIOS[1],
    }
    request_target = {
        f"at most {MAX_REQUEST_RATIO} times those of the row-by-row importer, measured"
        f" {request_ratio:.3f}": request_ratio <= MAX_REQUEST_RATIO
    }
    return Section(
        "Import of a batch",
        [
            "The import rate of new customers, each with an e-mail address and a phone number, on"
            " a local cloud. The row-by-row importer runs on the same emulator with plain boto3 and"
            " a separate table and index. For each row it queries by pair, then puts one item. It"
            " validates nothing, merges nothing, stores no list positions and no progress, and is"
            " not safe with concurrent runs. 'Through the gateway' is the time from the POST"
            " request to the `completedAt` of the import, with the packaged functions behind"
            " gateway and queue; the row-by-row importer uses neither. 'In process' runs each"
            " importer in one process and one thread: this service accepts the batch, then"
            f" receives, processes and deletes the messages, {IMPORTS.batch_size} at a time like"
            " the deployed function. The network delay is added before every request of every"
            " botocore client. A ratio compares the rows per second with those of the row-by-row"
            " importer at the same delay.",
            Table(
                {"importer": "", "added delay": "", "rows": ",", "seconds": ".1f"}
                | {"rows per second": ",.0f", "ratio": ".1f"},
                [
                    (name, f"{added} ms" if added else None, *run, speed, ratios[name, added])
                    for (name, added), run in runs.items()
                    for speed in [speeds[name, added]]
                ],
            ),
            f"Targets for the ratio: {met(speed_targets)}.",
            "AWS requests and capacity units for 1,000 rows, in process without added delay. The"
            " requests include those that receive and delete messages, which Lambda makes for a"
            " deployed function. The emulator reports the write units; like AWS, it computes them"
            " from the sizes of rows and index entries, doubled for rows in a transaction. Read"
            " units are computed from the sizes of the rows by AWS's rule, because the emulator"
            " reports a constant. This service uses more write units because it writes in"
            " transactions and adds a row per pair, which prevents duplicate customers.",
            Table(
                {"importer": ""}
                | dict.fromkeys(
                    ("requests", "DynamoDB", "SQS", "read units", "write units"), ",.0f"
                ),
                [(name, *figures) for name, figures in per_thousand.items()],
            ),
            f"Target for the requests: {met(request_target)}.",
        ],
    )
