"""A webhook receiver in a process that tests can kill: ``python -m … PORT LOG``.

Each request is logged as a line before the response. The path selects the behaviour: under
``/flaky`` a third of the webhooks fail at first, ``/silent`` never responds, other paths succeed.
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
    """The receiver. After a restart it reads its earlier requests from its log."""

    request_queue_size = 256
    daemon_threads = True

    def __init__(self, port: int, log: Path) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        lines = log.read_text().splitlines() if log.exists() else []
        self.seen = {json.loads(line)["id"] for line in lines if line.endswith("}")}
        self.log = log.open("a", buffering=1)
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Receiver

    def do_POST(self) -> None:
        """Log the webhook and respond according to its path and id."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        own_id = self.headers["X-Service-Webhook-Id"]
        if self.path.startswith("/silent"):
            time.sleep(60)
            return
        with self.server.lock:
            is_first = own_id not in self.server.seen
            self.server.seen.add(own_id)
            fails = self.path.startswith("/flaky") and is_first and UUID(own_id).int % 3 == 0
            status = 500 if fails else 200
            line = {
                "id": own_id,
                "status": status,
                "at": time.time(),
                "path": self.path,
                "timestamp": self.headers["X-Service-Webhook-Timestamp"],
                "signature": self.headers["X-Service-Webhook-Signature"],
                "body": body.decode(),
            }
            self.server.log.write(json.dumps(line) + "\n")
        time.sleep(0.02)  # so that a kill hits requests without a response
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Do nothing: the log is a file."""


if __name__ == "__main__":
    Receiver(int(sys.argv[1]), Path(sys.argv[2])).serve_forever()
