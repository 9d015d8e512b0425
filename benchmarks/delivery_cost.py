"""Measure the cost of webhook deliveries, and compare it with the cost of minimal scripts."""

import asyncio
import hashlib
import hmac
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any, Final

import boto3
import urllib3

from admin.services.accounts.manage import create_account
from admin.services.webhooks.secret import rotate_webhook_secret
from admin.services.workflows.manage import save_workflow
from benchmarks.measurement import measured
from benchmarks.memory_cloud import connected_process, running_cloud
from benchmarks.report import Section, Table
from chalicelib.concurrency import map_concurrently
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import in_groups
from chalicelib.domain.webhooks.execution import Execution, ExecutionPointer, ExecutionState
from chalicelib.services.webhooks import send
from chalicelib.settings import settings
from chalicelib.storage import executions

DELIVERIES: Final = 1_000
ROUNDS: Final = 5
BUDGET: Final = 1.2
_BATCH: Final = 10
_WARM_UP: Final = 50
_SECRET: Final = b"a secret of no account at all, 32 b"
_BODY: Final = json.dumps({"event": "workflow.action.webhook", "metadata": {"k": "v" * 300}})
_RESPONSE: Final = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"


def measure() -> Section:
    """Measure every contender once per round, in a new process each, and return the results."""
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in _CONTENDERS}
    with running_cloud() as cloud, _receiver() as port:
        for _ in range(ROUNDS):
            for name, rounds in samples.items():
                with connected_process(cloud) as process:
                    rounds.append(process.submit(_deliver, name, port).result())
    rows = [(name, *map(median, zip(*rounds, strict=True))) for name, rounds in samples.items()]
    ratio = rows[0][2] / rows[1][2]
    return Section(
        "Deliveries of webhooks",
        [
            f"{DELIVERIES:,} webhooks to a receiver on this machine, ten at a time: medians of"
            f" {ROUNDS} rounds. For each webhook, this service claims the execution, reads its"
            " action, validates the address, signs and posts the body, evaluates the response and"
            " writes the outcome. It makes two DynamoDB requests per webhook. Another process keeps"
            " the tables in memory and responds to these requests; botocore still signs the"
            " requests and parses the responses."
            " The bare script signs and posts with urllib3, opens a new connection per webhook, and"
            " makes two equivalent DynamoDB requests with boto3."
            f" Target: at most {BUDGET} times its CPU time, measured {ratio:.2f}.",
            Table(
                {"": "", "deliveries per second": ".0f", "CPU per delivery, µs": ".0f"},
                rows,
            ),
        ],
    )


def _deliver(contender: str, port: int) -> tuple[float, float]:
    """Deliver webhooks. Return the deliveries per second and the CPU time per delivery in µs."""
    url = f"http://127.0.0.1:{port}/hook"
    os.environ["PRIVATE_WEBHOOKS"] = "true"
    settings.cache_clear()
    account_id = create_account("Maison Lumen").id
    rotate_webhook_secret(account_id, "benchmark")
    action = {"id": new_id(), "key": "crm", "url": url}
    workflow = {"id": new_id(), "name": "All", "conditions": [], "actions": [action]}
    save_workflow(account_id, workflow)
    ids = account_id, str(workflow["id"]), str(action["id"])
    created = [new_execution(*ids) for _ in range(_WARM_UP + DELIVERIES)]
    executions.create(created)
    pointers = [execution.pointer for execution in created]
    deliver = _CONTENDERS[contender](url)
    deliver(pointers[:_WARM_UP])
    with measured() as cost:
        deliver(pointers[_WARM_UP:])
    return DELIVERIES / cost.seconds, cost.cpu_s / DELIVERIES * 1e6


def new_execution(account_id: str, workflow_id: str, action_id: str) -> Execution:
    """Build a pending execution without storing it."""
    return Execution(
        id=new_id(),
        account_id=account_id,
        workflow_id=workflow_id,
        action_id=action_id,
        feedback_id=new_id(),
        body=_BODY.encode(),
        state=ExecutionState.PENDING,
        created_at=clock.now(),
    )


Deliver = Callable[[list[ExecutionPointer]], object]


def _service(_url: str) -> Deliver:
    def deliver(pointers: list[ExecutionPointer]) -> None:
        for batch in in_groups(pointers, _BATCH):
            outcomes = map_concurrently(send.send_webhook, batch, send.WORKER.max_concurrency)
            assert set(outcomes) == {send.ExecutionOutcome.SUCCEEDED}, outcomes

    return deliver


def _recorded(url: str) -> Deliver:
    client: Any = boto3.client("dynamodb")
    post = _signed_post(url)
    table = settings().resource_name("executions")

    def claim_post_and_finish(pointer: ExecutionPointer) -> None:
        now = int(time.time())
        key = {"execution_id": {"S": pointer.execution_id}, "part": {"S": "execution"}}
        claimed = client.update_item(
            TableName=table,
            Key=key,
            UpdateExpression="ADD attempt :one, claims :one"
            " SET leased_until = :lease_end, due_at = :lease_end",
            ConditionExpression="#state = :pending AND (attribute_not_exists(#leased_until)"
            " OR #leased_until <= :now)",
            ExpressionAttributeNames={"#state": "state", "#leased_until": "leased_until"},
            ExpressionAttributeValues={
                ":one": {"N": "1"},
                ":pending": {"S": "PENDING"},
                ":now": {"N": str(now)},
                ":lease_end": {"N": str(now + 45)},
            },
            ReturnValues="ALL_NEW",
        )["Attributes"]
        post(pointer)
        update = {
            "TableName": table,
            "Key": key,
            "UpdateExpression": "SET #state = :done, settled = :attempt, ended_at = :now"
            " REMOVE leased_until, due_at, work_shard",
            "ConditionExpression": "#attempt = :attempt",
            "ExpressionAttributeNames": {"#attempt": "attempt", "#state": "state"},
            "ExpressionAttributeValues": {
                ":done": {"S": "SUCCEEDED"},
                ":attempt": claimed["attempt"],
                ":now": {"N": str(now)},
            },
        }
        attempt = key | {"part": {"S": "attempt"}, "status": {"N": "200"}}
        put = {"TableName": table, "Item": attempt}
        client.transact_write_items(TransactItems=[{"Update": update}, {"Put": put}])

    return lambda pointers: map_concurrently(claim_post_and_finish, pointers, _BATCH)


def _signed_post(url: str) -> Callable[[ExecutionPointer], None]:
    pool = urllib3.PoolManager(maxsize=_BATCH)
    body = _BODY.encode()

    def post(_: ExecutionPointer) -> None:
        timestamp = str(int(time.time()))
        signed = hmac.new(_SECRET, f"{timestamp}.".encode() + body, hashlib.sha256)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Service-Workflow-Webhook",
            "X-Service-Webhook-Timestamp": timestamp,
            "X-Service-Webhook-Signature": f"sha256={signed.hexdigest()}",
            "Connection": "close",
        }
        response = pool.request("POST", url, body=body, headers=headers, retries=False, timeout=10)
        assert response.status == 200

    return post


_CONTENDERS: Final = {
    "this service": _service,
    "bare urllib3 and boto3": _recorded,
}


@contextmanager
def _receiver() -> Iterator[int]:
    """Start a receiver in a thread, for the time of a ``with`` block. Yield its port."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(_respond, "127.0.0.1", 0))
    threading.Thread(target=loop.run_forever, daemon=True).start()
    yield server.sockets[0].getsockname()[1]
    loop.call_soon_threadsafe(loop.stop)


async def _respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Respond to a POST request with 200, with minimal CPU time."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
    writer.write(_RESPONSE)
    writer.close()
