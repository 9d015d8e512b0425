"""Measure the speed of importing a batch of customers."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import boto3
import httpx

from admin.services.accounts.manage import create_account, issue_key
from benchmarks.measurement import measured
from benchmarks.own_cloud import deploy_app, own_cloud
from benchmarks.queue_functions import invoke, received
from benchmarks.report import Section, Table, met
from benchmarks.waiting_model import waiting_model
from chalicelib.domain.customers.import_batch import ImportStatus
from chalicelib.domain.customers.pair import pair_of
from chalicelib.domain.ids import new_id
from chalicelib.queues import IMPORTS
from chalicelib.services.customers.accept_batch import accept_batch, read_import
from chalicelib.services.customers.import_chunk import WORKER
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.table import forget_connection
from chalicelib.web.partner.batch_body import validate_batch

ROWS: Final = 10_000
THOUSAND: Final = 1_000
WARM_UP_ROWS: Final = 100
ADDED_MS: Final = 5
MIN_SPEED_RATIO: Final = 10
"""Minimum ratio of this service's rows per second to those of the row-by-row importer."""
_TIMEOUT: Final = timedelta(minutes=5)
_POLL_INTERVAL_S: Final = 1.0

Rows = list[dict[str, Any]]


def measure() -> Section:
    """Import new customers into a temporary local cloud. Return the results."""
    with own_cloud():
        import_in_process(batch_of(WARM_UP_ROWS))
        speeds = {}
        for added_ms in (0, ADDED_MS):
            with measured(added_ms) as cost:
                import_in_process(batch_of(ROWS))
            speeds[f"in process, {added_ms} ms added"] = ROWS / cost.seconds
        requests = len(cost.requests) * THOUSAND / ROWS
        with measured(ADDED_MS) as cost:
            import_row_by_row(boto3.client("dynamodb"), batch_of(THOUSAND))
        row_by_row = THOUSAND / cost.seconds
        ratio = speeds[f"in process, {ADDED_MS} ms added"] / row_by_row
        url = deploy_app()
        _through_gateway(url, batch_of(WARM_UP_ROWS))
        speeds["through the gateway"] = ROWS / _through_gateway(url, batch_of(ROWS))
    with waiting_model() as model, model.metered() as load:
        import_in_process(batch_of(THOUSAND))
    forget_connection()
    target = {f"at least {MIN_SPEED_RATIO} times that rate": ratio >= MIN_SPEED_RATIO}
    return Section(
        "Import of a batch",
        [
            f"{ROWS:,} new customers, each with an e-mail address and a phone number, on a local"
            " cloud. 'In process' accepts the batch, then receives, processes and deletes the"
            f" messages in one thread, {IMPORTS.batch_size} at a time like the deployed function;"
            " the delay is added before every AWS request. 'Through the gateway' is the time from"
            " the POST request to the `completedAt` of the import, with the packaged functions.",
            Table({"import": "", "rows per second": ",.0f"}, speeds.items()),
            f"{THOUSAND:,} rows take {requests:.0f} AWS requests, {load.read_units:,.0f} read"
            f" units and {load.write_units.total():,.0f} write units, with the units of indexes:"
            " rows are written in transactions, and a row per pair prevents duplicate"
            " customers. A plain script that looks up and puts each row on the same emulator with"
            " boto3, without validation, merging, list positions or progress, imports"
            f" {row_by_row:.0f} rows a second with {ADDED_MS} ms added."
            f" Target: {met(target)}: {ratio:.1f}.",
        ],
    )


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


def import_row_by_row(dynamodb: Any, rows: Rows) -> None:
    """Look up each row's pair of e-mail address and phone number, and put new ones."""
    table = settings().resource_name("customer-pairs")
    for row in rows:
        pair = pair_of(row["email"], row["phoneNumber"])
        key = {"key": {"S": f"{new_id()}#{pair.digest if pair else ''}"}}
        if "Item" not in dynamodb.get_item(TableName=table, Key=key):
            customer = {name: {"S": str(value)} for name, value in row.items()}
            dynamodb.put_item(TableName=table, Item=key | customer)


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
