"""Sweep overdue records with recorded AWS responses and print the elapsed and the CPU time.

Usage: ``python -m benchmarks.sweep_process RECORDS ADDED_MS``. No request reaches AWS: each
request waits ``ADDED_MS`` milliseconds and then gets a recorded response. The elapsed time
therefore contains only the work of this process and the added latency.
"""

import json
import sys
import time
from base64 import b64encode
from typing import Any, Final
from zlib import compress

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.httpsession import URLLib3Session

_DUE_AT: Final = 1_700_000_000
_DOCUMENT: Final = json.dumps({"answers": [{"id": str(n), "values": ["v" * 30]} for n in range(9)]})


def main(records: int, added_ms: float) -> None:
    """Sweep a backlog of feedback and print the elapsed seconds and the CPU seconds as JSON."""
    from chalicelib.services.work.kinds import FEEDBACK
    from chalicelib.services.work.sweep import sweep

    cloud = _RecordedCloud(added_ms)
    setattr(URLLib3Session, "send", lambda _, request: cloud.respond(request))  # noqa: B010
    cloud.fill(200)
    sweep(FEEDBACK)
    cloud.fill(records)
    started, cpu = time.perf_counter(), time.process_time()
    swept = sweep(FEEDBACK)
    print(json.dumps([time.perf_counter() - started, time.process_time() - cpu]))
    assert swept == records
    assert not cloud.has_overdue


class _RecordedCloud:
    """A stub that responds to the DynamoDB and SQS requests of a sweep. Two shards contain records.

    Args:
        added_ms: the pause before each response, in milliseconds.
    """

    def __init__(self, added_ms: float) -> None:
        self._added_s = added_ms / 1000
        self._overdue: dict[str, list[dict[str, Any]]] = {}

    @property
    def has_overdue(self) -> bool:
        """Whether there are overdue records that no query has returned yet."""
        return any(self._overdue.values())

    def fill(self, records: int) -> None:
        """Add ``records`` overdue records of one account, half of them in each shard."""
        for number in range(records):
            shard = f"open-{number % 2}"
            entry = {
                "feedback_id": {"S": f"feedback-{number}"},
                "work_shard": {"S": shard},
                "due_at": {"N": str(_DUE_AT)},
            }
            self._overdue.setdefault(shard, []).append(entry)

    def respond(self, request: AWSPreparedRequest) -> AWSResponse:
        """Wait for the configured latency, then return the response to the request."""
        time.sleep(self._added_s)
        operation = _text(request.headers["X-Amz-Target"]).rpartition(".")[2]
        assert isinstance(request.body, bytes)
        body = json.dumps(getattr(self, f"_{operation}")(json.loads(request.body))).encode()
        headers = {
            "Content-Type": request.headers["Content-Type"],
            "Content-Length": str(len(body)),
        }
        return AWSResponse(request.url, 200, HTTPHeaders.from_dict(headers), _Body(body))

    def _Query(self, query: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        values = query["ExpressionAttributeValues"].values()
        (shard,) = (value["S"] for value in values if "S" in value)
        overdue, limit = self._overdue.get(shard, []), query["Limit"]
        items, self._overdue[shard] = overdue[:limit], overdue[limit:]
        page = {"Items": items, "Count": len(items), "ScannedCount": len(items)}
        return page | ({"LastEvaluatedKey": items[-1]} if overdue[limit:] else {})

    def _BatchGetItem(self, batch: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        ((table, read),) = batch["RequestItems"].items()
        return {"Responses": {table: [key | _RECORD for key in read["Keys"]]}}

    def _TransactWriteItems(self, _: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        return {}

    def _GetQueueUrl(self, _: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        return {"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/1/feedback-test-feedback"}

    def _SendMessageBatch(self, batch: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        return {
            "Successful": [
                {"Id": entry["Id"], "MessageId": entry["Id"], "MD5OfMessageBody": ""}
                for entry in batch["Entries"]
            ],
            "Failed": [],
        }


class _Body:
    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, **_: Any) -> Any:
        yield self._body


def _text(header: str | bytes) -> str:
    return header.decode() if isinstance(header, bytes) else header


_RECORD: Final[dict[str, Any]] = {
    "account_id": {"S": "2f1c7a52-7a33-4a52-8d0c-1f3f5a3a7c11"},
    "form_id": {"S": "6f0f7a52-7a33-4a52-8d0c-1f3f5a3a7c11"},
    "document": {"B": b64encode(compress(_DOCUMENT.encode())).decode()},
    "created_at": {"S": "2026-11-20T10:00:00.000Z"},
    "state": {"S": "PENDING"},
    "work_shard": {"S": "open-1"},
    "due_at": {"N": str(_DUE_AT)},
}


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
