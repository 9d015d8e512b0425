"""What an import of customers costs, beside one that goes row by row."""

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
from chalicelib.queues import IMPORTS
from chalicelib.services.accounts.manage import create_account, issue_key
from chalicelib.services.customers.accept_batch import accept_batch, read_import, validate_batch
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.table import connection

ROWS: Final = 10_000
ROWS_ONE_BY_ONE: Final = 1_000
ROWS_TO_WARM_UP: Final = 100
ADDED_MS: Final = (0, 5)
MESSAGES_AT_ONCE: Final = 5
"""As many as the queue hands to the deployed function."""

AIMS: Final = (5, 10)
"""Times the row by row's rows a second: through the gateway as it is; with the network added."""
AIM_REQUESTS: Final = 0.1

GATEWAY: Final = "this service, through the gateway"
IN_PROCESS: Final = "this service, in process"
ROW_BY_ROW: Final = "row by row, in process"

_LONGEST: Final = timedelta(minutes=5)
_PAUSE_S: Final = 1.0

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Import:
    """One import that was measured.

    Attributes:
        dynamodb: its requests to DynamoDB; like all that follows, zero where it was not counted.
        sqs: its requests to SQS.
        consumed: what the requests to DynamoDB consumed.
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
        """How fast it was."""
        return self.rows / self.seconds


def measure(rows: int = ROWS, rows_one_by_one: int = ROWS_ONE_BY_ONE) -> Section:
    """Imports new customers into a local cloud of its own, in each of the ways."""
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
    """Rows of new customers, each with a pair."""
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
    """Imports a batch as a new account: takes it in, then does what the queue hands out."""
    account_id = new_id()
    accepted = accept_batch(account_id, validate_batch({"batch": batch}))
    _work_off_the_queue()
    progress = read_import(account_id, accepted.id)
    assert progress.status is ImportStatus.COMPLETED, progress
    assert progress.created == len(batch), progress


def _work_off_the_queue() -> None:
    sqs: Any = boto3.client("sqs")
    queue = sqs.get_queue_url(QueueName=settings().resource_name(IMPORTS.name))["QueueUrl"]
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
        if mapping["EventSourceArn"].endswith(IMPORTS.name):
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
    raise AssertionError(f"The import does not end: {progress}")


@contextmanager
def _without_log() -> Iterator[None]:
    # The lines are made, as in a function, and go nowhere.
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
            "Rows a second of new customers, each with a pair, on a local cloud, beside the"
            " straightforward importer on the same emulator: for each row a query by pair, then a"
            " put or an update, in plain boto3, with a table and an index of its own. That one"
            " validates nothing, keeps no positions for a list and no progress, and is not safe"
            " against another one beside it. Through the gateway: from the start of the POST until"
            " the import was completed, as its progress then tells, with the packaged functions"
            " behind gateway and queue; the row by row has neither to pass. In process: one process"
            " and one thread for either importer; this service's takes the batch in, then receives"
            f" the messages from the queue, {MESSAGES_AT_ONCE} at a time as its function gets them,"
            " does them and deletes them. The added network is a wait before each request, put into"
            " the one place through which all of botocore's clients send, so it is the same for"
            " both. A ratio is to the row by row with the same network added.",
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
            f"Aims: at least {AIMS[0]} times the row by row through the gateway:"
            f" {times[GATEWAY, 0]:.1f}, {_met(times[GATEWAY, 0] >= AIMS[0])}. With {network_ms} ms"
            f" added, {AIMS[1]} times: {times[IN_PROCESS, network_ms]:.1f},"
            f" {_met(times[IN_PROCESS, network_ms] >= AIMS[1])}.",
            "Requests to AWS and capacity units for 1,000 rows, counted in process; receiving and"
            " deleting messages, which Lambda does for a deployed function, are among the requests."
            " Write units as the emulator tells them, which works them out from the sizes of rows"
            " and index entries as AWS does, twice for a table's rows in a transaction; read units"
            " by AWS's rule from the sizes of the rows, since the emulator tells the same for every"
            " read. This service pays more units: for the transaction, and for the pair's own row,"
            " by which no import makes a pair's customer twice.",
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
