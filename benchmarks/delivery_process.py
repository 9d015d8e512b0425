"""Deliver webhooks to a local port and print the elapsed time and the CPU time.

Usage: ``python -m benchmarks.delivery_process CONTENDER PORT DELIVERIES``. DynamoDB requests get
canned responses, so that only the work of this process is measured.
"""

import hashlib
import hmac
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.httpsession import URLLib3Session

_BATCH: Final = 10
_SECRET: Final = "a secret of no account at all, 32 b"  # noqa: S105
_WARM_UP: Final = 50
_BODY: Final = json.dumps({"event": "workflow.action.webhook", "metadata": {"k": "v" * 300}})


def main(contender: str, port: int, deliveries: int) -> None:
    """Deliver webhooks and print the elapsed seconds and the CPU seconds as a JSON array."""
    deliver = _CONTENDERS[contender](f"http://127.0.0.1:{port}/hook")
    deliver(_WARM_UP)
    started, cpu = time.perf_counter(), time.process_time()
    deliver(deliveries)
    print(json.dumps([time.perf_counter() - started, time.process_time() - cpu]))


def _bare(url: str) -> Callable[[int], None]:
    post = _signed_post(url)

    def deliver(count: int) -> None:
        with ThreadPoolExecutor(_BATCH) as threads:
            list(threads.map(post, range(count)))

    return deliver


def _recorded(url: str) -> Callable[[int], None]:
    import boto3

    setattr(URLLib3Session, "send", _response)  # noqa: B010 - replaces a method
    client: Any = boto3.client("dynamodb")
    post, key = _signed_post(url), {"id": {"S": "execution"}}

    def claim_post_and_finish(number: int) -> None:
        now = int(time.time())
        claimed = client.update_item(
            TableName="executions",
            Key=key,
            UpdateExpression="ADD attempt :one, claims :one"
            " SET leased_until = :lease_end, due_at = :lease_end",
            ConditionExpression="#state = :pending AND (attribute_not_exists(leased_until)"
            " OR leased_until <= :now)",
            ExpressionAttributeNames={"#state": "state"},
            ExpressionAttributeValues={
                ":one": {"N": "1"},
                ":pending": {"S": "PENDING"},
                ":now": {"N": str(now)},
                ":lease_end": {"N": str(now + 45)},
            },
            ReturnValues="ALL_NEW",
        )["Attributes"]
        post(number)
        attempt = claimed["attempt"]
        update = {
            "TableName": "executions",
            "Key": key,
            "UpdateExpression": "SET #state = :done, settled = :attempt, ended_at = :now"
            " REMOVE leased_until, due_at, work_shard",
            "ConditionExpression": "attempt = :attempt",
            "ExpressionAttributeNames": {"#state": "state"},
            "ExpressionAttributeValues": {
                ":done": {"S": "SUCCEEDED"},
                ":attempt": attempt,
                ":now": {"N": str(now)},
            },
        }
        row = {"id": key["id"], "attempt": attempt, "status": {"N": "200"}}
        put = {"TableName": "executions", "Item": row}
        client.transact_write_items(TransactItems=[{"Update": update}, {"Put": put}])

    def deliver(count: int) -> None:
        with ThreadPoolExecutor(_BATCH) as threads:
            list(threads.map(claim_post_and_finish, range(count)))

    return deliver


def _signed_post(url: str) -> Callable[[int], None]:
    import urllib3

    pool = urllib3.PoolManager(maxsize=_BATCH)
    body = _BODY.encode()

    def post(_: int) -> None:
        timestamp = str(int(time.time()))
        signed = hmac.new(_SECRET.encode(), f"{timestamp}.".encode() + body, hashlib.sha256)
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


def _service(url: str) -> Callable[[int], None]:
    from dataclasses import replace

    from chalicelib.domain.accounts.account import SigningSecrets
    from chalicelib.domain.clock import now
    from chalicelib.domain.webhooks.execution import ExecutionPointer
    from chalicelib.domain.workflows.workflow import Action, Workflow
    from chalicelib.services.webhooks import send as service
    from chalicelib.services.webhooks.send import DeliveryOutcome
    from chalicelib.settings import settings

    setattr(URLLib3Session, "send", _response)  # noqa: B010 - replaces a method
    patched_settings = replace(settings(), private_webhooks=True)
    action = Action(id="action", key="crm", url=url)
    workflow = Workflow(id="workflow", name="All", actions=(action,), created_at="", updated_at="")
    secrets = SigningSecrets(((now(), _SECRET),))
    for name, value in (
        ("settings", patched_settings),
        ("workflows_of", (workflow,)),
        ("signing_secrets_of", secrets),
    ):
        setattr(service, name, lambda *_, value=value: value)
    pointers = [ExecutionPointer("account", "execution", "workflow", "action")] * _BATCH

    def deliver(count: int) -> None:
        for _ in range(count // _BATCH):
            outcomes = service.deliver_concurrently(service.send_webhook, pointers)
            assert set(outcomes) == {DeliveryOutcome.SUCCEEDED}

    return deliver


def _response(_: Any, request: AWSPreparedRequest) -> AWSResponse:
    body = _CLAIM_RESPONSE if b"UpdateItem" in _bytes(request.headers["X-Amz-Target"]) else b"{}"
    headers = {"Content-Type": "application/x-amz-json-1.0", "Content-Length": str(len(body))}
    return AWSResponse(request.url, 200, HTTPHeaders.from_dict(headers), _ResponseBody(body))


class _ResponseBody:
    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, **_: Any) -> Any:
        yield self._body


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def _claim_response() -> bytes:
    from base64 import b64encode
    from zlib import compress

    texts = {
        "execution_id": "execution",
        "part": "execution",
        "account_id": "account",
        "workflow_id": "workflow",
        "action_id": "action",
        "feedback_id": "feedback",
        "created_at": "2026-11-20T10:00:00.000Z",
        "state": "PENDING",
        "work_shard": "open-1",
    }
    numbers = {"attempt": 1, "settled": 0, "claims": 1, "leased_until": 1, "due_at": 1}
    item: dict[str, Any] = {name: {"S": value} for name, value in texts.items()}
    item |= {name: {"N": str(value)} for name, value in numbers.items()}
    item["body"] = {"B": b64encode(compress(_BODY.encode())).decode()}
    return json.dumps({"Attributes": item}).encode()


_CLAIM_RESPONSE: Final = _claim_response()
_CONTENDERS: Final = {"service": _service, "recorded": _recorded, "bare": _bare}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
