"""The webhook receiver of the demo. It verifies, prints and stores each webhook that it receives.

The receiver runs in a separate process next to the emulator. It uses the same port after a restart,
so that the URL in the demo's workflows stays valid.
"""

import argparse
import base64
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from chalicelib.domain.webhooks.signature import WebhookVerificationError, verify
from infrastructure.local_cloud.background_server import BackgroundServer, Listener, escaped

BODY_LIMIT_BYTES = 1024 * 1024
VALID = "valid"


@dataclass(frozen=True)
class WebhookReceiver(BackgroundServer):
    """Start and stop the receiver's process, and detect whether it is running.

    The state folder's file ``demo.json`` contains the webhook secret.
    """

    name: ClassVar[str] = "webhook receiver"
    module: ClassVar[str] = "infrastructure.local_cloud.webhook_receiver"

    @property
    def received(self) -> Path:
        """The file that contains one JSON line per received request."""
        return self.folder / "webhooks.jsonl"

    @property
    def url(self) -> str:
        """Return the receiver's URL.

        Raises:
            DeploymentError: the receiver was never started in this folder.
        """
        (port,) = self.ports
        return f"http://127.0.0.1:{port}/webhooks"

    @contextlib.contextmanager
    def listen(self, ports: tuple[int, ...]) -> Iterator[Listener]:
        """Listen on the port of the last run if it is free, otherwise on another port."""
        try:
            server = _Server(self, *(ports or (0,)))
        except OSError:
            server = _Server(self, 0)
        with server:
            yield (server.server_port,), server.serve_forever


class _Server(ThreadingHTTPServer):
    def __init__(self, receiver: WebhookReceiver, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.receiver = receiver
        self.write_lock = threading.Lock()

    def verdict(self, headers: dict[str, str], body: bytes) -> str:
        """Verify the webhook. Return ``valid`` or the reason why it is invalid."""
        lower_case_headers = {name.lower(): value for name, value in headers.items()}
        try:
            demo = json.loads((self.receiver.folder / "demo.json").read_bytes())
            verify(
                demo["webhookSecret"],
                lower_case_headers.get("x-service-webhook-timestamp", ""),
                lower_case_headers.get("x-service-webhook-signature", ""),
                body,
                int(time.time()),
            )
        except WebhookVerificationError as error:
            return str(error)
        except (OSError, ValueError, KeyError):
            return "demo.json contains no webhook secret yet."
        return VALID

    def store(self, request: dict[str, Any]) -> None:
        """Append the request to the file of received webhooks and print a summary line."""
        line = json.dumps(request, ensure_ascii=False)
        with self.write_lock:
            # Only the current user may read the file: custom headers can contain secrets.
            self.receiver.received.touch(mode=0o600)
            with self.receiver.received.open("a", encoding="utf-8") as received:
                received.write(line + "\n")
            print(_summary(request), flush=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        """Verify the webhook and store it, even if it is invalid."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > BODY_LIMIT_BYTES:
            self.send_error(413 if length else 411)
            return
        body = self.rfile.read(int(length))
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        verdict = self.server.verdict(headers, body)
        self.server.store(
            {
                "receivedAt": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "method": self.command,
                "path": self.path,
                "headers": headers,
                "body": base64.b64encode(body).decode(),
                "verdict": verdict,
            }
        )
        response_body = b"Thank you.\n" if verdict == VALID else f"{verdict}\n".encode()
        self.send_response(200 if verdict == VALID else 401)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(response_body)))
        self.end_headers()
        self.wfile.write(response_body)

    def log_message(self, *_arguments: object) -> None:
        """Do nothing, because `_Server.store` prints a line about each request."""


def _summary(request: dict[str, Any]) -> str:
    try:
        body = json.loads(base64.b64decode(request["body"]))
        about = f"“{body['workflow']['name']}” {body['action']['key']} {body['feedback']['id']}"
    except (ValueError, KeyError, TypeError):
        about = f"{request['method']} {request['path']}"
    mark = "✓" if request["verdict"] == VALID else "✗"
    return escaped(f"{mark} Webhook received: {about}: {request['verdict']}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="webhook_receiver", description=__doc__)
    parser.add_argument("folder", type=Path)
    WebhookReceiver(parser.parse_args().folder).serve()
