"""A client of the public endpoints that reads views and submits answers as multipart bodies."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chalice.local import RouteMatcher

from tests.policies import allowed
from tests.web.partner_client import Response

BOUNDARY = "----WebKitFormBoundaryx7"
Parts = Sequence[tuple[str, str]]


def multipart(parts: Parts, boundary: str = BOUNDARY) -> bytes:
    """Encode the parts as a multipart body, as a browser does."""
    encoded_parts = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
        for name, text in parts
    )
    return f"{encoded_parts}--{boundary}--\r\n".encode()


def answers(**values: str | Sequence[str]) -> list[dict[str, Any]]:
    """Build submitted answers from values by field id."""
    return [
        {"id": name, "values": [value] if isinstance(value, str) else list(value)}
        for name, value in values.items()
    ]


@dataclass(frozen=True)
class PublicClient:
    """A client that invokes the app with API Gateway events.

    Attributes:
        address: the source IP address of the requests.
        base64: whether to encode bodies as Base64, as the gateway does for binary media types.
    """

    address: str = "203.0.113.7"
    base64: bool = True
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, headers: dict[str, str] | None = None) -> Response:
        return self._send("GET", path, None, headers or {})

    def head(self, path: str) -> Response:
        return self._send("HEAD", path, None, {})

    def request(self, method: str, path: str, headers: dict[str, str]) -> Response:
        """Send a request without a body."""
        return self._send(method, path, None, headers)

    def preflight(self, path: str, headers: dict[str, str]) -> Response:
        """Send the preflight request that a browser sends for this path."""
        return self._send("OPTIONS", path, None, headers)

    def submit(
        self,
        path: str,
        body: Parts | bytes,
        headers: dict[str, str] | None = None,
        content_type: str = f"multipart/form-data; boundary={BOUNDARY}",
    ) -> Response:
        raw = body if isinstance(body, bytes) else multipart(body)
        return self._send("POST", path, raw, {"content-type": content_type} | (headers or {}))

    def submit_fields(
        self,
        path: str,
        form_id: str,
        fields: Any,
        headers: dict[str, str] | None = None,
        **parts: str,
    ) -> Response:
        """Submit the answers as one JSON part, together with other parts."""
        listed = [("id", form_id), *parts.items(), ("fields", json.dumps(fields))]
        return self.submit(path, listed, headers)

    def _send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> Response:
        from app import app

        # The app creates each route that it is asked for, so only its own routes may be named.
        matched = RouteMatcher(list(app.routes)).match_route(path)
        address, _, query = path.partition("?")
        pairs = [pair.partition("=")[::2] for pair in query.split("&") if pair]
        in_base64 = body is not None and self.base64
        event = {
            "resource": matched.route,
            "path": address,
            "httpMethod": method,
            "headers": self.headers | headers,
            "multiValueQueryStringParameters": {name: [value] for name, value in pairs} or None,
            "pathParameters": matched.captured or None,
            "stageVariables": None,
            "requestContext": {
                "httpMethod": method,
                "resourcePath": matched.route,
                "path": f"/test{address}",
                "requestId": "request-1",
                "identity": {"sourceIp": self.address},
            },
            "body": None
            if body is None
            else base64.b64encode(body).decode()
            if in_base64
            else body.decode(errors="replace"),
            "isBase64Encoded": in_base64,
        }
        with allowed("api_handler"):
            response = app(event, None)
        return Response(
            response["statusCode"],
            {name.lower(): value for name, value in response["headers"].items()},
            response["body"],
        )
