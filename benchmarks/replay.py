"""Replay recorded DynamoDB responses instead of using the network.

Only sending is replaced. Botocore still signs, retries, verifies checksums and parses.
"""

import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.httpsession import URLLib3Session

from benchmarks.recorded_request import RecordedAnswer, RecordedRequest


class Replay:
    """Respond to every DynamoDB request from the recording of one request.

    Attributes:
        calls: the requests since the last `clear`, by operation and table.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self._answers: dict[str, list[tuple[bytes, str, _Canned]]] = {}

    def install(self) -> None:
        """Replace the network for the rest of the process."""
        replay = self

        def send(_session: Any, request: AWSPreparedRequest) -> AWSResponse:
            return replay._response(request)

        setattr(URLLib3Session, "send", send)  # noqa: B010 - a method, replaced on purpose

    def turn_to(self, request: RecordedRequest) -> None:
        """Use this recorded request from now on."""
        self._answers = {}
        for response in request.responses:
            self._answers.setdefault(response.operation, []).append(
                (
                    f'"{response.table}"'.encode(),
                    f"{response.operation} {response.table}",
                    _Canned(response),
                )
            )

    def _response(self, request: AWSPreparedRequest) -> AWSResponse:
        target = request.headers["X-Amz-Target"]
        operation = (target.decode() if isinstance(target, bytes) else target).rpartition(".")[2]
        body = request.body
        assert isinstance(body, bytes)
        for mark, name, canned in self._answers[operation]:
            if mark in body:
                self.calls[name] += 1
                return AWSResponse(request.url, 200, canned.headers, canned)
        raise LookupError(f"No recorded response for {operation} {body!r}")


class _Canned:
    def __init__(self, response: RecordedAnswer) -> None:
        self._body = response.body.encode()
        headers = {
            "Server": "Server",
            "Date": "Fri, 20 Nov 2026 10:00:00 GMT",
            "Content-Type": "application/x-amz-json-1.0",
            "Content-Length": str(len(self._body)),
            "Connection": "keep-alive",
            "x-amzn-RequestId": "9P1QKJ2V3S5T7U9W1X3Y5Z7A9BVV4KQNSO5AEMVJF66Q9ASUAAJG",
            "x-amz-crc32": str(zlib.crc32(self._body)),
        }
        self.headers = HTTPHeaders.from_dict(headers)

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._body
