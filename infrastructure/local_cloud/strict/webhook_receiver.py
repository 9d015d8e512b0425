"""The webhook receiver of the demo: verify, print and store each webhook."""

import base64
import json
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from infrastructure.local_cloud.strict.mailbox import print_line
from infrastructure.local_cloud.strict.signature import WebhookVerificationError, verify

_VALID: Final = "valid"


class WebhookReceiver:
    """Receive webhooks, and store them in the folder of the local cloud.

    The folder's file ``demo.json`` contains the webhook secret. The receiver appends one JSON line
    for each request to the file ``webhooks.jsonl``.

    Args:
        show: called with a line about each webhook. Default: print the line.
    """

    def __init__(self, folder: Path, show: Callable[[str], None] | None = None) -> None:
        self._show = show or print_line
        self._demo = folder / "demo.json"
        self._received = folder / "webhooks.jsonl"

    def receive(
        self, path: str, raw_headers: Iterable[tuple[bytes, bytes]], body: bytes
    ) -> tuple[int, str]:
        """Store a webhook, even if it is invalid. Return the status and the message to send."""
        headers: dict[str, str] = {}
        for name, value in ((n.decode("latin-1"), v.decode("latin-1")) for n, v in raw_headers):
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        verdict = self._verdict(headers, body)
        request = {
            "receivedAt": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "method": "POST",
            "path": path,
            "headers": headers,
            "body": base64.b64encode(body).decode(),
            "verdict": verdict,
        }
        line = json.dumps(request, ensure_ascii=False) + "\n"
        # Without a buffer, lines of concurrent requests do not mix.
        with self._received.open("ab", buffering=0) as received:
            received.write(line.encode())
        self._show(_summary(request, body))
        return (200, "Thank you.") if verdict == _VALID else (401, verdict)

    def _verdict(self, headers: dict[str, str], body: bytes) -> str:
        """Verify the webhook. Return ``valid`` or the reason why it is invalid."""
        try:
            verify(
                json.loads(self._demo.read_bytes())["webhookSecret"],
                headers.get("x-service-webhook-timestamp", ""),
                headers.get("x-service-webhook-signature", ""),
                body,
                int(time.time()),
            )
        except WebhookVerificationError as error:
            return str(error)
        except (OSError, ValueError, KeyError):
            return "demo.json contains no webhook secret yet."
        return _VALID


def _summary(request: dict[str, Any], body: bytes) -> str:
    try:
        sent = json.loads(body)
        about = f"“{sent['workflow']['name']}” {sent['action']['key']} {sent['feedback']['id']}"
    except (ValueError, KeyError, TypeError):
        about = f"{request['method']} {request['path']}"
    mark = "✓" if request["verdict"] == _VALID else "✗"
    return f"{mark} Webhook received: {about}: {request['verdict']}"
