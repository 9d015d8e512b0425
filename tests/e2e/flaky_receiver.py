"""A webhook receiver that tests run as a separate process and kill: ``python -m … PORT LOG``.

The receiver writes each request to the log before it responds. The URL path selects the response:
``/flaky`` responds with an error to the first attempt of a third of the webhooks. ``/silent`` never
responds; it logs the end of the connection as ``/silent/ended``. Every other path responds with
200.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID


class Receiver(ThreadingHTTPServer):
    """The HTTP server. After a restart, it reads the ids of earlier webhooks from its log."""

    request_queue_size = 256
    daemon_threads = True

    def __init__(self, port: int, log: Path) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        lines = log.read_text().splitlines() if log.exists() else []
        self.seen = {json.loads(line)["id"] for line in lines if line.endswith("}")}
        self.log = log.open("a", buffering=1)
        self.lock = threading.Lock()

    def record(self, line: dict[str, Any]) -> None:
        """Write a line with the current time to the log."""
        with self.lock:
            self.log.write(json.dumps(line | {"at": time.time()}) + "\n")


class Handler(BaseHTTPRequestHandler):
    """Handle one webhook request."""

    server: Receiver

    def do_POST(self) -> None:
        """Log the webhook, then respond. The path and the webhook id determine the status."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        webhook_id = self.headers["X-Service-Webhook-Id"]
        if self.path.startswith("/silent"):
            self.server.record({"id": webhook_id, "path": "/silent"})
            self.rfile.read(1)  # block until the sender closes the connection
            self.server.record({"id": webhook_id, "path": "/silent/ended"})
            return
        with self.server.lock:
            is_first = webhook_id not in self.server.seen
            self.server.seen.add(webhook_id)
            fails = self.path.startswith("/flaky") and is_first and UUID(webhook_id).int % 3 == 0
            status = 500 if fails else 200
        self.server.record(
            {
                "id": webhook_id,
                "status": status,
                "path": self.path,
                "timestamp": self.headers["X-Service-Webhook-Timestamp"],
                "signature": self.headers["X-Service-Webhook-Signature"],
                "body": body.decode(),
            }
        )
        time.sleep(0.02)  # long enough for a kill to interrupt some responses
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Disable the server's default log on standard error."""


if __name__ == "__main__":
    Receiver(int(sys.argv[1]), Path(sys.argv[2])).serve_forever()
