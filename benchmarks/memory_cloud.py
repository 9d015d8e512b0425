"""Keep the tables and queues of a stage in memory, in this process or in one that several share.

Botocore still signs the requests and parses the responses; only its HTTP exchange is replaced.
"""

import json
import tempfile
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from zlib import crc32

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ClientError
from botocore.httpsession import URLLib3Session

from benchmarks.measurement import operation_of
from benchmarks.processes import SPAWN, STAGE, child_process
from tests.aws.tables import Request, Tables

_BACKLOG: Final = 1_000

Exchange = Callable[[str, bytes], tuple[int, dict[str, str], bytes]]
"""Returns the status, the headers and the body of the response to an operation with a body."""


class MemoryCloud(Tables):
    """The tables and queues of a stage. Indexes and eventually consistent reads have no lag.

    Args:
        latency_s: the duration of a request. Other writes of the rows of a transaction conflict
            during this time, and reads return the earlier rows.
    """

    def __init__(self, latency_s: float = 0.0) -> None:
        super().__init__(STAGE, time.time, delays_s=lambda number: [latency_s] * number)
        self._queues: defaultdict[str, deque[str]] = defaultdict(deque)

    def GetQueueUrl(self, request: Request) -> Any:  # noqa: N802
        return {"QueueUrl": f"https://sqs.eu-west-1.amazonaws.com/1/{request['QueueName']}"}

    def SendMessageBatch(self, request: Request) -> Any:  # noqa: N802
        entries = request["Entries"]
        self._queues[request["QueueUrl"]].extend(entry["MessageBody"] for entry in entries)
        sent = [{"Id": entry["Id"], "MessageId": "", "MD5OfMessageBody": ""} for entry in entries]
        return {"Successful": sent, "Failed": []}

    def ReceiveMessage(self, request: Request) -> Any:  # noqa: N802
        """Return up to ``MaxNumberOfMessages`` messages, and delete them."""
        queue = self._queues[request["QueueUrl"]]
        bodies = [queue.popleft() for _ in range(min(len(queue), request["MaxNumberOfMessages"]))]
        return {"Messages": [{"ReceiptHandle": "", "Body": body} for body in bodies]}

    def DeleteMessageBatch(self, _: Request) -> Any:  # noqa: N802
        return {"Successful": [], "Failed": []}

    def GetSecretValue(self, _: Request) -> Any:  # noqa: N802
        return {"SecretString": "s" * 64}

    def exchange(self, operation: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return the status, the headers and the body of the response to a request."""
        try:
            status, response = 200, self.respond(operation, json.loads(body))
        except ClientError as failed:
            status = 400
            response = {"__type": failed.response["Error"]["Code"], **failed.response}
        content = json.dumps(response).encode()
        return status, _headers(content, crc32(content)), content


def _headers(content: bytes, checksum: int) -> dict[str, str]:
    return {
        "Server": "Server",
        "Date": "Fri, 20 Nov 2026 10:00:00 GMT",
        "Content-Type": "application/x-amz-json-1.0",
        "Content-Length": str(len(content)),
        "Connection": "keep-alive",
        "x-amzn-RequestId": "9P1QKJ2V3S5T7U9W1X3Y5Z7A9BVV4KQNSO5AEMVJF66Q9ASUAAJG",
        "x-amz-crc32": str(checksum),
    }


def connect(exchange: Exchange) -> None:
    """Respond to all further AWS requests of this process."""

    def send(_session: Any, request: AWSPreparedRequest) -> AWSResponse:
        assert isinstance(request.body, bytes)
        status, headers, body = exchange(operation_of(request), request.body)
        content = SimpleNamespace(stream=lambda **_: iter([body]))
        return AWSResponse(request.url, status, HTTPHeaders.from_dict(headers), content)

    setattr(URLLib3Session, "send", send)  # noqa: B010 - replaces a method


class CloudClient(threading.local):
    """Sends AWS requests to the cloud with this socket, with a connection for each thread."""

    def __init__(self, path: Path) -> None:
        self._connection = Client(str(path))

    def exchange(self, operation: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return the status, the headers and the body of the response to a request."""
        self._connection.send_bytes(operation.encode() + b"\n" + body)
        status, checksum, content = self._connection.recv_bytes().split(b"\n", 2)
        return int(status), _headers(content, int(checksum)), content


def connected_process(path: Path) -> ProcessPoolExecutor:
    """Return an executor with one new process, whose AWS requests the cloud responds to."""
    process = child_process()
    process.submit(connect_to, path).result()
    return process


def connect_to(path: Path) -> None:
    """Let the cloud with this socket respond to all further AWS requests of this process."""
    connect(CloudClient(path).exchange)


@contextmanager
def running_cloud(latency_ms: float = 0.0) -> Iterator[Path]:
    """Run a cloud in a process, for the time of a ``with`` block. Yield the path of its socket."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cloud"
        process = SPAWN.Process(target=_serve, args=(path, latency_ms / 1000), daemon=True)
        process.start()
        try:
            while not path.exists():
                assert process.is_alive()
                time.sleep(0.01)
            yield path
        finally:
            process.terminate()
            process.join()


def _serve(path: Path, latency_s: float) -> None:
    """Respond to requests on a local socket until the process is stopped."""
    cloud = MemoryCloud(latency_s)

    def respond(connection: Connection) -> None:
        with suppress(EOFError, ConnectionError):
            while True:
                operation, _, body = connection.recv_bytes().partition(b"\n")
                status, headers, content = cloud.exchange(operation.decode(), body)
                time.sleep(latency_s)
                checksum = headers["x-amz-crc32"].encode()
                connection.send_bytes(b"%d\n%b\n%b" % (status, checksum, content))

    with Listener(str(path), backlog=_BACKLOG) as listener:
        while True:
            threading.Thread(target=respond, args=(listener.accept(),), daemon=True).start()
