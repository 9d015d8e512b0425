"""Replace DynamoDB's responses with recorded ones, without sending requests over the network.

Only the HTTP exchange is replaced. Botocore still signs requests, retries, verifies checksums and
parses responses.
"""

import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.httpsession import URLLib3Session

from benchmarks.recorded_request import RecordedRequest, RecordedResponse


class Replay:
    """Respond to DynamoDB requests with the recorded responses that belong to the selected request.

    Attributes:
        calls: the number of DynamoDB requests by operation and table. Callers reset it.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self._responses: dict[str, list[tuple[bytes, str, _RecordedBody]]] = {}

    def install(self) -> None:
        """Replace botocore's HTTP session until the process ends."""
        replay = self

        def send(_session: Any, request: AWSPreparedRequest) -> AWSResponse:
            return replay.response(request)

        setattr(URLLib3Session, "send", send)  # noqa: B010 - replaces a method

    def select(self, request: RecordedRequest) -> None:
        """Select a recorded request. Later DynamoDB requests get the responses of this request."""
        self._responses = {}
        for response in request.responses:
            self._responses.setdefault(response.operation, []).append(
                (
                    f'"{response.table}"'.encode(),
                    f"{response.operation} {response.table}",
                    _RecordedBody(response),
                )
            )

    def response(self, request: AWSPreparedRequest) -> AWSResponse:
        """Return the recorded response to an AWS request."""
        target = request.headers["X-Amz-Target"]
        operation = (target.decode() if isinstance(target, bytes) else target).rpartition(".")[2]
        body = request.body
        assert isinstance(body, bytes)
        for table, name, recorded in self._responses[operation]:
            if table in body:
                self.calls[name] += 1
                return AWSResponse(request.url, 200, recorded.headers, recorded)
        raise LookupError(f"No recorded response for {operation} {body!r}")


class _RecordedBody:
    def __init__(self, response: RecordedResponse) -> None:
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
