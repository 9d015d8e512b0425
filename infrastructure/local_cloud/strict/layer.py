"""The strict layer: ASGI middleware around the emulator, with the servers of the local cloud."""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from infrastructure.local_cloud.strict import access
from infrastructure.local_cloud.strict.access import Scope
from infrastructure.local_cloud.strict.faults import FaultRates, Faults
from infrastructure.local_cloud.strict.mailbox import Mailbox
from infrastructure.local_cloud.strict.webhook_receiver import WebhookReceiver

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


class StrictLayer:
    """Reject foreign requests, and serve the paths of the local cloud."""

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
        is_websocket = scope["type"] == "websocket"
        scope = access.with_client_address(scope)
        reason = access.rejection_reason(scope["path"], scope["headers"])
        if reason and is_websocket:
            await send({"type": "websocket.close", "code": 1008})
        elif reason:
            await _respond(send, 403, {"message": reason})
        elif is_websocket:
            await self._app(scope, receive, send)
        elif scope["path"] == FAULTS_PATH:
            await self._control(scope, receive, send)
        elif scope["path"] == MAILBOX_PATH:
            await _respond(send, 200, await asyncio.to_thread(self._mailbox.all))
        elif scope["path"] == WEBHOOKS_PATH and scope["method"] == "POST":
            body = await _body(receive)
            status, text = await asyncio.to_thread(
                self._webhooks.receive, scope["path"], scope["headers"], body
            )
            await _respond(send, status, {"message": text})
        else:
            await self._app(scope, receive, send)

    async def _control(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not access.is_local_tool(scope.get("client"), scope["headers"]):
            await _respond(
                send, 403, {"message": "Only programs on this machine may use this path."}
            )
            return
        if scope["method"] == "PUT":
            try:
                rates = FaultRates.model_validate_json(await _body(receive))
            except ValueError as error:
                await _respond(send, 400, {"message": str(error)})
                return
            self._faults.rates = rates
            self._faults.injected.clear()
        state = {"rates": vars(self._faults.rates), "injected": self._faults.injected}
        await _respond(send, 200, state)


async def _body(receive: Receive) -> bytes:
    """Return the request body. If the client has disconnected, it is incomplete."""
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


async def _respond(send: Send, status: int, body: object) -> None:
    encoded = json.dumps(body).encode()
    length = str(len(encoded)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": encoded})
