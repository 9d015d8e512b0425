"""The cost of importing customers, compared with an importer that processes row by row."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import boto3
import httpx
from chalice.app import SQSEvent

from benchmarks import row_by_row_importer
from benchmarks.consumed_capacity import Consumed, consumed_capacity
from benchmarks.network import network
from benchmarks.own_cloud import deploy_app, own_cloud
from benchmarks.report import Section, Table
from chalicelib.domain.customers.import_batch import ImportStatus
from chalicelib.domain.ids import new_id
from chalicelib.functions.import_customers import import_customers
from chalicelib.log import logger
from chalicelib.outbound.import_queue import QUEUE
from chalicelib.services.accounts.manage import create_account, issue_key
from chalicelib.services.customers.accept_batch import accept_batch, read_import, validate_batch
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.table import connection

ROWS: Final = 10_000
ROWS_ONE_BY_ONE: Final = 1_000
ROWS_TO_WARM_UP: Final = 100
ADDED_MS: Final = (0, 5)
MESSAGES_AT_ONCE: Final = 5
"""The batch size of the deployed function's event source."""

AIMS: Final = (5, 10)
"""Minimum ratio to the row-by-row importer: through the gateway, and with added network time."""
AIM_REQUESTS: Final = 0.1

GATEWAY: Final = "this service, through the gateway"
IN_PROCESS: Final = "this service, in process"
ROW_BY_ROW: Final = "row by row, in process"

_LONGEST: Final = timedelta(minutes=5)
_PAUSE_S: Final = 1.0

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Import:
    """The measurements of one import.

    Attributes:
        dynamodb: requests to DynamoDB; this and the following are zero if not counted.
        sqs: requests to SQS.
        consumed: capacity consumed by the requests to DynamoDB.
    """

    importer: str
    added_ms: int
    rows: int
    seconds: float
    dynamodb: int = 0
    sqs: int = 0
    consumed: Consumed = field(default_factory=Consumed)

    @property
    def rows_a_second(self) -> float:
        """The throughput in rows a second."""
        return self.rows / self.seconds


def measure(rows: int = ROWS, rows_one_by_one: int = ROWS_ONE_BY_ONE) -> Section:
    """Import new customers into a temporary local cloud with each importer."""
    with own_cloud() as cloud, _without_log():
        imports = [_through_gateway(deploy_app(cloud), rows)]
        _take_the_function_off_its_queue()
        dynamodb = boto3.client("dynamodb")
        row_by_row_importer.create_table(dynamodb)

        def row_by_row(batch: Rows) -> None:
            row_by_row_importer.import_rows(dynamodb, new_id(), batch)

        row_by_row(batch_of(ROWS_TO_WARM_UP))
        import_in_process(batch_of(ROWS_TO_WARM_UP))
        for added_ms in ADDED_MS:
            imports += [
                _measured(IN_PROCESS, connection().client, added_ms, rows, import_in_process),
                _measured(ROW_BY_ROW, dynamodb, added_ms, rows_one_by_one, row_by_row),
            ]
    return _section(imports)


def batch_of(count: int) -> Rows:
    """Build rows of new customers, each with a pair."""
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
    """Import a batch into a new account: accept it, then process the queue."""
    account_id = new_id()
    accepted = accept_batch(account_id, validate_batch({"batch": batch}))
    _work_off_the_queue()
    progress = read_import(account_id, accepted.id)
    assert progress.status is ImportStatus.COMPLETED, progress
    assert progress.created == len(batch), progress


def _work_off_the_queue() -> None:
    sqs: Any = boto3.client("sqs")
    queue = sqs.get_queue_url(QueueName=settings().resource_name(QUEUE))["QueueUrl"]
    while received := sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=MESSAGES_AT_ONCE).get(
        "Messages"
    ):
        records = [{"messageId": m["MessageId"], "body": m["Body"]} for m in received]
        left = import_customers(SQSEvent({"Records": records}, None))
        assert not left["batchItemFailures"], left
        sqs.delete_message_batch(
            QueueUrl=queue,
            Entries=[
                {"Id": str(place), "ReceiptHandle": message["ReceiptHandle"]}
                for place, message in enumerate(received)
            ],
        )


def _take_the_function_off_its_queue() -> None:
    functions: Any = boto3.client("lambda")
    for mapping in functions.list_event_source_mappings()["EventSourceMappings"]:
        if mapping["EventSourceArn"].endswith(QUEUE):
            functions.delete_event_source_mapping(UUID=mapping["UUID"])


def _measured(
    importer: str, dynamodb: Any, added_ms: int, rows: int, run: Callable[[Rows], None]
) -> Import:
    batch = batch_of(rows)
    with consumed_capacity(dynamodb) as consumed, network(added_ms) as requests:
        started = time.perf_counter()
        run(batch)
        seconds = time.perf_counter() - started
    sqs = sum(count for target, count in requests.items() if target.startswith("AmazonSQS"))
    return Import(importer, added_ms, rows, seconds, requests.total() - sqs, sqs, consumed=consumed)


def _through_gateway(address: str, rows: int) -> Import:
    _import_through_gateway(address, batch_of(ROWS_TO_WARM_UP))
    return Import(GATEWAY, 0, rows, _import_through_gateway(address, batch_of(rows)))


def _import_through_gateway(address: str, batch: Rows) -> float:
    account = create_account("Maison Lumen")
    credential, secret = issue_key(account.id)
    headers = {"X-API-KEY": credential.api_key, "X-API-SECRET": secret}
    url = f"{address}/partners/customer/batch"
    with httpx.Client(headers=headers, timeout=60, trust_env=False) as http:
        started = datetime.now(UTC)
        accepted = http.post(url, json={"batch": batch})
        assert accepted.status_code == 201, accepted.text
        own_id = accepted.json()["id"]
        while datetime.now(UTC) - started < _LONGEST:
            time.sleep(_PAUSE_S)
            progress = http.get(url, params={"id": own_id}).json()
            if progress["status"] == ImportStatus.COMPLETED.value:
                assert progress["created"] == len(batch), progress
                ended = datetime.fromisoformat(progress["completedAt"])
                return (ended - started).total_seconds()
    raise AssertionError(f"The import did not finish: {progress}")


@contextmanager
def _without_log() -> Iterator[None]:
    # Log lines are formatted, as in a function, and discarded.
    with (
        Path(os.devnull).open("w") as nowhere,
        patch.object(logger.registered_handler, "stream", nowhere),
    ):
        yield


def _section(imports: list[Import]) -> Section:
    one_by_one = {it.added_ms: it for it in imports if it.importer == ROW_BY_ROW}
    times = {
        (it.importer, it.added_ms): it.rows_a_second / one_by_one[it.added_ms].rows_a_second
        for it in imports
    }
    counted = [it for it in imports if it.dynamodb and not it.added_ms]
    requests = {it.importer: (it.dynamodb + it.sqs) / it.rows for it in counted}
    requests_ratio = requests[IN_PROCESS] / requests[ROW_BY_ROW]
    network_ms = ADDED_MS[-1]
    return Section(
        "Import of a batch",
        [
            "Import rate of new customers, each with a pair, on a local cloud. The row-by-row"
            " importer runs on the same emulator with plain boto3 and a table and index of its"
            " own: per row one query by pair, then a put or an update. It validates nothing,"
            " stores no list positions and no progress, and is not safe with concurrent runs."
            " 'Through the gateway' measures from the POST until the progress reports completion,"
            " with the packaged functions behind gateway and queue; the row-by-row importer uses"
            " neither. 'In process' uses one process and one thread for each importer: this"
            " service accepts the batch, then receives, processes and deletes the messages,"
            f" {MESSAGES_AT_ONCE} at a time like its function. The added network delay precedes"
            " every request of every botocore client. Ratios compare with the row-by-row importer"
            " with the same delay.",
            Table(
                ("importer", "network added", "rows", "seconds", "rows a second", "ratio"),
                [
                    (
                        it.importer,
                        f"{it.added_ms} ms" if it.added_ms else "",
                        f"{it.rows:,}",
                        f"{it.seconds:.1f}",
                        f"{it.rows_a_second:,.0f}",
                        f"{times[it.importer, it.added_ms]:.1f}",
                    )
                    for it in imports
                ],
            ),
            f"Aims: at least {AIMS[0]} times the row-by-row importer through the gateway:"
            f" {times[GATEWAY, 0]:.1f}, {_met(times[GATEWAY, 0] >= AIMS[0])}. With {network_ms} ms"
            f" added, {AIMS[1]} times: {times[IN_PROCESS, network_ms]:.1f},"
            f" {_met(times[IN_PROCESS, network_ms] >= AIMS[1])}.",
            "Requests to AWS and capacity units for 1,000 rows, counted in process. The requests"
            " include receiving and deleting messages, which Lambda does for a deployed function."
            " Write units are reported by the emulator, which computes them from the sizes of"
            " rows and index entries as AWS does, doubled for rows in a transaction. Read units"
            " are computed from the sizes of the rows by AWS's rule, because the emulator reports"
            " a constant. This service uses more units for the transaction and for the pair row"
            " that prevents duplicate customers.",
            Table(
                ("importer", "requests", "DynamoDB", "SQS", "read units", "write units"),
                [_per_thousand(it) for it in counted],
            ),
            f"Aim: at most a tenth of the requests: {requests_ratio:.3f},"
            f" {_met(requests_ratio <= AIM_REQUESTS)}.",
        ],
    )


def _per_thousand(it: Import) -> tuple[str, ...]:
    figures = (
        it.dynamodb + it.sqs,
        it.dynamodb,
        it.sqs,
        it.consumed.read_units_by_size,
        it.consumed.write_units,
    )
    return (it.importer, *(f"{figure * 1000 / it.rows:,.0f}" for figure in figures))


def _met(is_met: bool) -> str:
    return "met" if is_met else "missed"
