"""Determine where a botocore client would send a request, without sending the request."""

from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders


def destination_of(client: Any, method: str, **arguments: Any) -> tuple[str, str]:
    """Return the URL that this client calls, and the region and service in the signature."""
    requests: list[AWSPreparedRequest] = []

    def respond(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        requests.append(request)
        return AWSResponse(request.url, 200, HTTPHeaders(), _Empty())

    client.meta.events.register_first("before-send.*.*", respond)
    getattr(client, method)(**arguments)
    (request,) = requests
    signed = request.headers["Authorization"].decode()
    return request.url, signed.partition("/")[2].partition(",")[0]


class _Empty:
    def stream(self, **_: Any) -> Any:
        yield b"{}"
