"""Where a request to AWS would go, without sending it."""

from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders


def sent_to(client: Any, method: str, **arguments: Any) -> tuple[str, str]:
    """The address that this client calls, and for what region and service it signs the request."""
    requests: list[AWSPreparedRequest] = []

    def answer(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        requests.append(request)
        return AWSResponse(request.url, 200, HTTPHeaders(), _Empty())

    client.meta.events.register_first("before-send.*.*", answer)
    getattr(client, method)(**arguments)
    (request,) = requests
    signed = request.headers["Authorization"].decode()
    return request.url, signed.partition("/")[2].partition(",")[0]


class _Empty:
    def stream(self, **_: Any) -> Any:
        yield b"{}"
