"""Measure the cost of webhook deliveries, and compare it with the cost of a minimal script."""

import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any, Final

import boto3
import urllib3

from admin.services.accounts.manage import create_account
from admin.services.definitions.kinds import WORKFLOW, save
from admin.services.webhooks.secret import rotate_webhook_secret
from benchmarks.measurement import measured
from benchmarks.memory_cloud import connected_process, running_cloud
from benchmarks.report import Section, Table, met
from chalicelib.concurrency import map_concurrently
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import in_groups
from chalicelib.domain.webhooks.execution import Execution, ExecutionPointer, ExecutionState
from chalicelib.services.webhooks import send
from chalicelib.settings import settings
from chalicelib.storage import executions
from tests.local_server import serving

DELIVERIES: Final = 1_000
ROUNDS: Final = 5
BUDGET: Final = 1.2
_BATCH: Final = 10
_WARM_UP: Final = 50
_SECRET: Final = b"a secret of no account at all, 32 b"
_BODY: Final = json.dumps({"event": "workflow.action.webhook", "metadata": {"k": "v" * 300}})
_RECEIVED: Final = (200, {"Connection": "close"}, b"ok")

Deliver = Callable[[list[ExecutionPointer]], object]


def measure() -> Section:
    """Measure every contender once per round, in a new process each, and return the results."""
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in _CONTENDERS}
    with running_cloud() as cloud, serving(lambda *_: _RECEIVED) as port:
        for _ in range(ROUNDS):
            for name, rounds in samples.items():
                with connected_process(cloud) as process:
                    rounds.append(process.submit(_deliver, name, port).result())
    rows = [(name, *map(median, zip(*rounds, strict=True))) for name, rounds in samples.items()]
    ratio = rows[0][2] / rows[1][2]
    targets = {f"at most {BUDGET} times its CPU time, measured {ratio:.2f}": ratio <= BUDGET}
    return Section(
        "Deliveries of webhooks",
        [
            f"{DELIVERIES:,} webhooks to a receiver on this machine, ten at a time: medians of"
            f" {ROUNDS} rounds. For each webhook, this service claims the execution, reads its"
            " action, validates the address, signs and posts the body, evaluates the response and"
            " writes the outcome. It makes two DynamoDB requests per webhook. Another process keeps"
            " the tables in memory and responds to these requests; botocore still signs the"
            " requests and parses the responses. The bare script sends the same two requests with"
            " boto3, signs and posts the body with urllib3, and opens a new connection per"
            f" webhook. Target: {met(targets)}.",
            Table({"": "", "deliveries per second": ".0f", "CPU per delivery, µs": ".0f"}, rows),
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
    save(WORKFLOW, account_id, workflow)
    ids = account_id, str(workflow["id"]), str(action["id"])
    created = [new_execution(*ids) for _ in range(_WARM_UP + DELIVERIES)]
    executions.create(created)
    pointers = [execution.pointer for execution in created]
    send.send_webhook(pointers[0])  # reads the workflow and the secret, which are then cached
    deliver = _CONTENDERS[contender](url, pointers)
    deliver(pointers[2:_WARM_UP])
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


def _service(*_: Any) -> Deliver:
    def deliver(pointers: list[ExecutionPointer]) -> None:
        for batch in in_groups(pointers, _BATCH):
            outcomes = map_concurrently(send.send_webhook, batch, send.WORKER.max_concurrency)
            assert set(outcomes) == {send.ExecutionOutcome.SUCCEEDED}, outcomes

    return deliver


def _bare(url: str, pointers: list[ExecutionPointer]) -> Deliver:
    """Return a script that repeats the requests of a delivery of the service, for each pointer."""
    client: Any = boto3.client("dynamodb")
    with measured() as delivery:
        send.send_webhook(pointers[1])

    def repeated(pointer: ExecutionPointer) -> tuple[dict[str, Any], dict[str, Any]]:
        ids = pointers[1].execution_id.encode(), pointer.execution_id.encode()
        claim, save = [json.loads(body.replace(*ids)) for _, body in delivery.requests]
        return claim, save | {"ClientRequestToken": new_id()}

    requests = {pointer: repeated(pointer) for pointer in pointers}
    post = _signed_post(url)

    def deliver(pointer: ExecutionPointer) -> None:
        claim, save = requests[pointer]
        client.update_item(**claim)
        post()
        client.transact_write_items(**save)

    return lambda pointers: map_concurrently(deliver, pointers, _BATCH)


def _signed_post(url: str) -> Callable[[], None]:
    pool = urllib3.PoolManager(maxsize=_BATCH)
    body = _BODY.encode()

    def post() -> None:
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


_CONTENDERS: Final = {"this service": _service, "bare urllib3 and boto3": _bare}
