"""Receive webhooks and verify their signature and timestamp.

Run: WEBHOOK_SECRET=… PORT=8000 python webhook_receiver.py (Python 3.9 or newer, no dependencies)
"""

import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET", "").encode()
MAX_CLOCK_DIFFERENCE_S = 300
MAX_BODY_BYTES = 1024 * 1024  # A webhook's body has at most 200 KB.
processed = set()  # In production, use a database table with a unique key.


def is_valid(timestamp: str, signature: str, raw_body: bytes) -> bool:
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 13):
        return False
    if abs(time.time() - int(timestamp)) > MAX_CLOCK_DIFFERENCE_S:
        return False
    signed = timestamp.encode() + b"." + raw_body
    expected = "sha256=" + hmac.new(SECRET, signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))


class Receiver(BaseHTTPRequestHandler):
    timeout = 30  # seconds; a client that sends nothing must not keep a thread.

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal() and len(length) < 10):
            self.respond(411)
            return
        if int(length) > MAX_BODY_BYTES:
            self.respond(413)
            return
        raw_body = self.rfile.read(int(length))
        timestamp = self.headers.get("X-Service-Webhook-Timestamp", "")
        signature = self.headers.get("X-Service-Webhook-Signature", "")
        if not is_valid(timestamp, signature, raw_body):
            self.respond(401)
            return
        event = json.loads(raw_body)
        delivery = (event["feedback"]["id"], event["action"]["id"])  # The signature covers it.
        if delivery not in processed:
            processed.add(delivery)
            print(event["workflow"]["name"], event["feedback"]["id"], flush=True)
        self.respond(204)

    def respond(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        # A client can close its connection at any time.
        print("connection failed:", sys.exc_info()[0].__name__, file=sys.stderr, flush=True)


if __name__ == "__main__":
    if not SECRET:
        sys.exit("Set WEBHOOK_SECRET. With an empty secret, anyone can sign webhooks.")
    server = Server(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Receiver)
    print("listening on port", server.server_port, flush=True)
    server.serve_forever()
