"""Receive webhooks and verify their signature and timestamp.

Run: WEBHOOK_SECRET=… PORT=8000 python webhook_receiver.py (Python 3.9 or newer, no dependencies)
"""

import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()
MAX_CLOCK_DIFFERENCE_S = 300
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
    def do_POST(self) -> None:
        raw_body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        timestamp = self.headers.get("X-Service-Webhook-Timestamp", "")
        signature = self.headers.get("X-Service-Webhook-Signature", "")
        if not is_valid(timestamp, signature, raw_body):
            self.respond(401)
            return
        event = json.loads(raw_body)
        delivery = (
            event["feedback"]["id"],
            event["action"]["id"],
        )  # The signature covers it.
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


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Receiver)
    print("listening on port", server.server_port, flush=True)
    server.serve_forever()
