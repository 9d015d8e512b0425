"""Keep the tables and queues of a stage in memory, in a process that several processes share.

Botocore still signs the requests and parses the responses; only its HTTP exchange is replaced, by a
local socket.
"""

import asyncio
import json
import socket
import tempfile
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from zlib import crc32

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ClientError
from botocore.httpsession import URLLib3Session

from benchmarks.measurement import target_of
from benchmarks.processes import SPAWN, STAGE, child_process
from tests.aws.tables import Request, Tables

_LENGTH_BYTES: Final = 4
_BACKLOG: Final = 1_000


class MemoryCloud(Tables):
    """The tables and queues of a stage. Indexes and eventually consistent reads have no lag."""

    def __init__(self, stage: str) -> None:
        super().__init__(stage, time.time)
        self._queues: defaultdict[str, deque[str]] = defaultdict(deque)

    def GetQueueUrl(self, request: Request) -> Any:  # noqa: N802
        return {"QueueUrl": f"https://sqs.eu-west-1.amazonaws.com/1/{request['QueueName']}"}

    def SendMessageBatch(self, request: Request) -> Any:  # noqa: N802
        entries = request["Entries"]
        self._queues[request["QueueUrl"]].extend(entry["MessageBody"] for entry in entries)
        sent = [{"Id": entry["Id"], "MessageId": "", "MD5OfMessageBody": ""} for entry in entries]
        return {"Successful": sent, "Failed": []}

    def ReceiveMessage(self, request: Request) -> Any:  # noqa: N802
        """Return all messages, and delete them."""
        messages = self._queues.pop(request["QueueUrl"], ())
        return {"Messages": [{"ReceiptHandle": "", "Body": body} for body in messages]}

    def DeleteMessageBatch(self, _: Request) -> Any:  # noqa: N802
        return {"Successful": [], "Failed": []}

    def GetSecretValue(self, _: Request) -> Any:  # noqa: N802
        return {"SecretString": "s" * 64}

    def response(self, operation: str, body: bytes) -> tuple[int, bytes]:
        """Return the status and the body of the response to a request."""
        try:
            return 200, json.dumps(self.respond(operation, json.loads(body))).encode()
        except ClientError as failed:
            error = {"__type": failed.response["Error"]["Code"], **failed.response}
            return 400, json.dumps(error).encode()


def serve(path: Path, stage: str) -> None:
    """Respond to requests on a local socket until the process is stopped."""
    cloud = MemoryCloud(stage)

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            while True:
                length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big")
                operation, _, body = (await reader.readexactly(length)).partition(b"\n")
                status, content = cloud.response(operation.decode(), body)
                writer.write(_frame(b"%d\n%d\n%b" % (status, crc32(content), content)))

    async def run() -> None:
        server = await asyncio.start_unix_server(respond, path, backlog=_BACKLOG)
        await server.serve_forever()

    with suppress(KeyboardInterrupt):
        asyncio.run(run())


@contextmanager
def running_cloud() -> Iterator[Path]:
    """Run a cloud in a process, for the time of a ``with`` block. Yield the path of its socket."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cloud"
        process = SPAWN.Process(target=serve, args=(path, STAGE), daemon=True)
        process.start()
        try:
            while not path.exists():
                assert process.is_alive()
                time.sleep(0.01)
            yield path
        finally:
            process.terminate()
            process.join()


class CloudClient(threading.local):
    """Sends AWS requests to the cloud with this socket, with a connection for each thread."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._responses = self._socket.makefile("rb")

    def respond(self, request: AWSPreparedRequest) -> AWSResponse:
        """Return the response of the cloud to an AWS request."""
        assert isinstance(request.body, bytes)
        status, headers, body = self.exchange(operation_of(request), request.body)
        return response_to(request, status, headers, body)

    def exchange(self, operation: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return the status, the headers and the body of the response to a request."""
        self._socket.sendall(_frame(operation.encode() + b"\n" + body))
        header = self._responses.read(_LENGTH_BYTES)
        assert header, f"The cloud failed during {operation}."
        length = int.from_bytes(header, "big")
        status, checksum, content = self._responses.read(length).split(b"\n", 2)
        headers = {
            "Server": "Server",
            "Date": "Fri, 20 Nov 2026 10:00:00 GMT",
            "Content-Type": "application/x-amz-json-1.0",
            "Content-Length": str(len(content)),
            "Connection": "keep-alive",
            "x-amzn-RequestId": "9P1QKJ2V3S5T7U9W1X3Y5Z7A9BVV4KQNSO5AEMVJF66Q9ASUAAJG",
            "x-amz-crc32": checksum.decode(),
        }
        return int(status), headers, content


def connect(path: Path) -> None:
    """Send the AWS requests of this process to the cloud with this socket, until it ends."""
    client = CloudClient(path)

    def send(_session: Any, request: AWSPreparedRequest) -> AWSResponse:
        return client.respond(request)

    setattr(URLLib3Session, "send", send)  # noqa: B010 - replaces a method


def connected_process(path: Path) -> ProcessPoolExecutor:
    """Return an executor with one new process, whose AWS requests the cloud responds to."""
    process = child_process()
    process.submit(connect, path).result()
    return process


def operation_of(request: AWSPreparedRequest) -> str:
    """Return the name of the operation that an AWS request calls."""
    return target_of(request).rpartition(".")[2]


def response_to(
    request: AWSPreparedRequest, status: int, headers: dict[str, str], body: bytes
) -> AWSResponse:
    """Return the response to a request, as botocore's HTTP exchange returns it."""
    content = SimpleNamespace(stream=lambda **_: iter([body]))
    return AWSResponse(request.url, status, HTTPHeaders.from_dict(headers), content)


def _frame(content: bytes) -> bytes:
    return len(content).to_bytes(_LENGTH_BYTES, "big") + content
