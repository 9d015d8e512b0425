"""The strict layer: ASGI middleware around the emulator, with the servers of the local cloud.

The emulator serves every request. Without the rules of this layer, a web page in the developer's
browser could create and run functions, because browsers send requests of any page to the loopback
address.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final
from urllib.parse import urlsplit

from infrastructure.local_cloud.strict.faults import FaultRates, Faults
from infrastructure.local_cloud.strict.limits import (
    INVOCATION_PATH,
    AwsError,
    invocation_error,
)
from infrastructure.local_cloud.strict.mailbox import Mailbox
from infrastructure.local_cloud.strict.webhook_receiver import WebhookReceiver

Headers = Iterable[tuple[bytes, bytes]]
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

FAULTS_PATH: Final = "/_local/faults"
"""The path of the fault rates. ``GET`` returns the rates and the number of injected faults.

``PUT`` replaces the rates.
"""
MAILBOX_PATH: Final = "/_local/messages"
"""The path that lists all messages as JSON."""
WEBHOOKS_PATH: Final = "/_local/webhooks"
"""The path of the webhook receiver. It accepts ``POST``."""
_INVOKE_PATH: Final = re.compile(r"/restapis/[^/]+/[^/]+/_user_request_(/.*)?", re.DOTALL)
_LOOPBACK_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_LOOPBACK_ADDRESSES: Final = frozenset({"127.0.0.1", "::1"})
_SAME_ORIGIN: Final = frozenset({"same-origin", "none"})
_AWS_JSON: Final = b"application/x-amz-json-1.0"


class StrictLayer:
    """Reject foreign requests, enforce limits of AWS and inject faults."""

    def __init__(
        self, app: App, faults: Faults, mailbox: Mailbox, webhooks: WebhookReceiver
    ) -> None:
        self._app = app
        self._faults = faults
        self._mailbox = mailbox
        self._webhooks = webhooks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        scope = _with_client_address(scope)
        reason = rejection_reason(scope["path"], scope["headers"])
        if reason and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif reason:
            await _respond(send, 403, {"message": reason})
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        elif scope["path"] == FAULTS_PATH:
            await self._control(scope, receive, send)
        elif scope["path"] == MAILBOX_PATH:
            await _respond(send, 200, await asyncio.to_thread(self._mailbox.all))
        elif scope["path"] == WEBHOOKS_PATH and scope["method"] == "POST":
            body = await _body(receive) or b""
            status, text = await asyncio.to_thread(
                self._webhooks.receive, scope["path"], scope["headers"], body
            )
            await _respond(send, status, {"message": text})
        else:
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        target = next(iter(_values(scope["headers"], b"x-amz-target")), "")
        service, _, operation = target.partition(".")
        is_dynamodb = service.startswith("DynamoDB_")
        if not is_dynamodb and not INVOCATION_PATH.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            return
        if is_dynamodb:
            error = self._faults.error(operation, _parsed(body))
        else:
            error = invocation_error(len(body))
        if error:
            await _respond_with_error(send, error)
            return
        if is_dynamodb and self._faults.occurs("slow"):
            send = _delayed(send, self._faults.rates.slow_s)
        await self._app(scope, _replay(body, receive), send)

    async def _control(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not is_local_tool(scope.get("client"), scope["headers"]):
            await _respond(
                send, 403, {"message": "Only programs on this machine may use this path."}
            )
            return
        if scope["method"] == "PUT":
            try:
                rates = FaultRates.model_validate_json(await _body(receive) or b"")
            except ValueError as error:
                await _respond(send, 400, {"message": str(error)})
                return
            self._faults.rates = rates
            self._faults.injected.clear()
        state = {"rates": vars(self._faults.rates), "injected": self._faults.injected}
        await _respond(send, 200, state)


def rejection_reason(path: str, headers: Headers) -> str | None:
    """Return why a request is rejected, or None if it is allowed.

    The host must be the loopback address, so that DNS rebinding fails. Requests of web pages of
    other origins may only invoke the deployed API.
    """
    hosts = _values(headers, b"host")
    if len(hosts) != 1 or _hostname(hosts[0]) not in _LOOPBACK_NAMES:
        return "The Host header must be the loopback address."
    if _INVOKE_PATH.fullmatch(path):
        return None
    if any(origin != f"http://{hosts[0]}" for origin in _values(headers, b"origin")):
        return "Requests of other origins may only invoke the deployed API."
    if any(site not in _SAME_ORIGIN for site in _values(headers, b"sec-fetch-site")):
        return "Requests of other sites may only invoke the deployed API."
    return None


def is_local_tool(client: tuple[str, int] | None, headers: Headers) -> bool:
    """Return whether a request comes from a program on this machine that is not a browser."""
    return (
        client is not None
        and client[0] in _LOOPBACK_ADDRESSES
        and not _values(headers, b"origin")
        and not _values(headers, b"sec-fetch-site")
    )


def _hostname(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
        return parts.hostname if parts.netloc == host and "@" not in host else None
    except ValueError:
        return None


def _values(headers: Headers, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def _with_client_address(scope: Scope) -> Scope:
    """Replace the `X-Forwarded-For` headers of a request with the address of its client.

    The emulator's gateway takes the source address from this header. API Gateway takes the source
    address from the connection, so a client cannot choose it.
    """
    name = b"x-forwarded-for"
    client = scope.get("client")
    address = [(name, client[0].encode())] if client else []
    others = [(key, value) for key, value in scope["headers"] if key.lower() != name]
    return {**scope, "headers": [*others, *address]}


def _delayed(send: Send, delay_s: float) -> Send:
    async def send_later(message: Message) -> None:
        if message["type"] == "http.response.start":
            await asyncio.sleep(delay_s)
        await send(message)

    return send_later


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        request = json.loads(body)
    except ValueError:
        return {}
    return request if isinstance(request, dict) else {}


async def _body(receive: Receive) -> bytes | None:
    """Return the request body, or None if the client has disconnected."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def _respond_with_error(send: Send, error: AwsError) -> None:
    body = {"__type": error.code, "message": error.message, **error.fields}
    await _respond(send, error.status, body, _AWS_JSON, error.code)


async def _respond(
    send: Send,
    status: int,
    body: object,
    media_type: bytes = b"application/json",
    error_type: str = "",
) -> None:
    encoded = json.dumps(body).encode()
    headers = [(b"content-type", media_type), (b"content-length", str(len(encoded)).encode())]
    if error_type:
        headers.append((b"x-amzn-errortype", error_type.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": encoded})
