"""Tests of the strict layer around an app that records the requests that it receives."""

import asyncio
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from infrastructure.local_cloud.strict.faults import FaultRates, Faults
from infrastructure.local_cloud.strict.layer import (
    FAULTS_PATH,
    MAILBOX_PATH,
    WEBHOOKS_PATH,
    StrictLayer,
)
from infrastructure.local_cloud.strict.mailbox import Mailbox
from infrastructure.local_cloud.strict.webhook_receiver import WebhookReceiver

HOST = "127.0.0.1:4566"
INVOKE_PATH = "/restapis/abc/local/_user_request_/public/survey"
FUNCTIONS_PATH = "/2015-03-31/functions"


@dataclass
class Recorder:
    """An ASGI app that records request bodies and sends a fixed response."""

    response: dict[str, Any] = field(default_factory=dict)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        self.bodies.append(body)
        self.headers = scope["headers"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(self.response).encode()})


@dataclass
class Response:
    """A response that the strict layer sent."""

    status: int
    body: Any
    headers: dict[bytes, bytes]


@dataclass
class Client:
    """A client that passes requests to the layer without a network connection."""

    app: Recorder
    faults: Faults
    folder: Path

    def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes = b"",
        address: str = "127.0.0.1",
        kind: str = "http",
        **headers: str,
    ) -> Response:
        names = {"host": HOST, **{k.replace("_", "-"): v for k, v in headers.items()}}
        scope = {
            "type": kind,
            "method": method,
            "path": path,
            "client": (address, 50000),
            "headers": [(k.encode(), v.encode()) for k, v in names.items()],
        }
        parts = [body[len(body) // 2 :], body[: len(body) // 2]]
        messages: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": parts.pop(), "more_body": bool(parts)}

        async def send(message: Any) -> None:
            messages.append(message)

        mailbox, webhooks = Mailbox(self.folder / "mail"), WebhookReceiver(self.folder)
        asyncio.run(StrictLayer(self.app, self.faults, mailbox, webhooks)(scope, receive, send))
        if messages[0]["type"] == "websocket.close":
            return Response(messages[0]["code"], None, {})
        return Response(
            messages[0]["status"],
            json.loads(messages[1]["body"]),
            dict(messages[0]["headers"]),
        )


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(Recorder(), Faults(random.Random(1)), tmp_path)


@pytest.mark.parametrize("host", [HOST, "localhost:4566", "127.0.0.1", "[::1]:4566", "LOCALHOST:1"])
def test_request_with_loopback_host_is_accepted(client: Client, host: str) -> None:
    assert client.request("GET", "/", host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "shop.example",
        "shop.example:4566",
        "127.0.0.1.shop.example:4566",
        "localhost@shop.example",
        "shop.example@localhost",
        "bucket.localhost",
        "127.0.0.1:x@shop.example",
        "127.0.0.1/shop.example",
        "",
        "[",
    ],
)
@pytest.mark.parametrize("path", ["/", INVOKE_PATH])
def test_foreign_host_is_rejected_on_every_path(client: Client, path: str, host: str) -> None:
    assert client.request("GET", path, host=host).status == 403
    assert not client.app.bodies


@pytest.mark.parametrize("header", ["x_forwarded_for", "X_Forwarded_For"])
@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_client_cannot_choose_its_source_address(client: Client, address: str, header: str) -> None:
    client.request("GET", INVOKE_PATH, address=address, **{header: "198.51.100.1"})
    values = [value for name, value in client.app.headers if name.lower() == b"x-forwarded-for"]
    assert values == [address.encode()]


FOREIGN = [
    {"origin": "https://shop.example"},
    {"origin": "null"},
    {"origin": "http://localhost:3000"},
    {"origin": "https://127.0.0.1:4566"},
    {"sec_fetch_site": "cross-site"},
    {"sec_fetch_site": "same-site"},
    {"origin": f"http://{HOST}", "sec_fetch_site": "cross-site"},
]


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize(
    "path",
    [
        "/",
        FUNCTIONS_PATH,
        "/_ministack/reset",
        FAULTS_PATH,
        MAILBOX_PATH,
        WEBHOOKS_PATH,
        "/restapis/abc/local/_user_request",
        "/restapis/abc/_user_request_/x",
        "/restapis/a/b/c/_user_request_/x",
        "/_aws/execute-api/abc/local/x",
    ],
)
def test_request_from_page_of_another_origin_is_rejected(
    client: Client, path: str, headers: dict[str, str]
) -> None:
    assert client.request("POST", path, **headers).status == 403
    assert not client.app.bodies


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("path", [INVOKE_PATH, "/restapis/abc/local/_user_request_"])
def test_page_of_another_origin_can_invoke_deployed_api(
    client: Client, path: str, headers: dict[str, str]
) -> None:
    assert client.request("POST", path, **headers).status == 200


def test_request_from_page_of_local_cloud_is_accepted(client: Client) -> None:
    headers = {"origin": f"http://{HOST}", "sec_fetch_site": "same-origin"}
    assert client.request("GET", "/image", **headers).status == 200
    assert client.request("GET", "/", sec_fetch_site="none").status == 200


def test_websocket_from_page_of_another_origin_is_closed(client: Client) -> None:
    origin = {"origin": "https://shop.example"}
    assert client.request("GET", "/", kind="websocket", **origin).status == 1008
    assert not client.app.bodies


def test_request_without_browser_headers_reaches_emulator_unchanged(client: Client) -> None:
    client.request("PUT", "/bucket/key", body=b"object")
    assert client.app.bodies == [b"object"]


def test_mailbox_and_webhook_receiver_have_their_own_paths(client: Client) -> None:
    assert client.request("GET", MAILBOX_PATH).body == []
    received = client.request("POST", WEBHOOKS_PATH, body=b"{}")
    assert (received.status, received.body["message"]) == (
        401,
        "demo.json contains no webhook secret yet.",
    )
    assert (client.folder / "webhooks.jsonl").exists()
    assert not client.app.bodies


def test_faults_endpoint_sets_rates_and_returns_injected_count(client: Client) -> None:
    assert client.request("GET", FAULTS_PATH).body["rates"]["throttling"] == 0
    rates = json.dumps({"throttling": 1}).encode()
    assert client.request("PUT", FAULTS_PATH, body=rates).status == 200
    assert client.faults.occurs("throttling")
    state = client.request("GET", FAULTS_PATH).body
    assert (state["rates"]["throttling"], state["injected"]["throttling"]) == (1, 1)
    client.request("PUT", FAULTS_PATH, body=b"{}")
    assert not client.faults.occurs("throttling")


@pytest.mark.parametrize(
    "rates", [b"", b"[]", b'{"throttling": 1.1}', b'{"throttle": 1}', b'{"slow_s": "1"}']
)
def test_invalid_fault_rates_are_rejected(client: Client, rates: bytes) -> None:
    assert client.request("PUT", FAULTS_PATH, body=rates).status == 400
    assert client.faults.rates == FaultRates()


@pytest.mark.parametrize(
    "caller",
    [{"address": "192.0.2.1"}, {"origin": f"http://{HOST}"}, {"sec_fetch_site": "same-origin"}],
)
def test_fault_rates_from_browser_or_other_machine_are_rejected(
    client: Client, caller: Any
) -> None:
    assert client.request("PUT", FAULTS_PATH, body=b"{}", **caller).status == 403
