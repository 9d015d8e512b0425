"""The demo's webhook receiver: verifies, prints and stores each webhook, as a partner's would.

It runs next to the emulator in its own process. A lock on a file in the state folder tells whether
it runs. Its port is stored there, so that the demo's workflows find it after a restart.
"""

import argparse
import base64
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

from chalicelib.domain.webhooks.signature import WebhookVerificationError, verify
from infrastructure.deployment.code_package import PROJECT
from infrastructure.deployment.progress import DeploymentError

START_TIMEOUT_S = 20
STOP_TIMEOUT_S = 5
BODY_LIMIT_BYTES = 1024 * 1024
VALID = "valid"


@dataclass(frozen=True)
class WebhookReceiver:
    """Start, find and stop the receiver's process.

    Attributes:
        folder: the state folder, whose ``demo.json`` contains the webhook secret.
    """

    folder: Path

    @property
    def received(self) -> Path:
        """The file with one JSON line per request."""
        return self.folder / "webhooks.jsonl"

    @property
    def log(self) -> Path:
        """The receiver's output when it runs in the background."""
        return self.folder / "webhook-receiver.log"

    @property
    def url(self) -> str:
        """Return the receiver's URL.

        Raises:
            DeploymentError: the receiver was never started in this folder.
        """
        _, port = self._process_id_and_port()
        if not port:
            raise DeploymentError(f"No webhook receiver was started in {self.folder}.")
        return f"http://127.0.0.1:{port}/webhooks"

    def is_running(self) -> bool:
        """Return whether a receiver runs in this folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._lock_file.open("a") as lock:
            return not _locks(lock.fileno())

    def start(self, *, printing: bool = False) -> "subprocess.Popen[bytes] | None":
        """Start the receiver and return its process, or None if it is already running.

        Args:
            printing: print to this process's output instead of the log.

        Raises:
            DeploymentError: the receiver did not start.
        """
        if self.is_running():
            return None
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "infrastructure.local_cloud.webhook_receiver",
                    str(self.folder),
                ],
                cwd=PROJECT,
                stdin=subprocess.DEVNULL,
                stdout=None if printing else log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while process.poll() is None and time.monotonic() < deadline:
            if self._process_id_and_port()[0] == process.pid:
                return process
            time.sleep(0.02)
        process.kill()
        process.wait()
        raise DeploymentError(f"The webhook receiver did not start. See its log: {self.log}")

    def stop(self) -> bool:
        """Stop the receiver and return whether it was running. Its port and its file are kept."""
        if not self.is_running():
            return False
        for number in (signal.SIGTERM, signal.SIGKILL):
            process_id, _ = self._process_id_and_port()
            if process_id:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process_id, number)
            deadline = time.monotonic() + STOP_TIMEOUT_S
            while self.is_running() and time.monotonic() < deadline:
                time.sleep(0.02)
            if not self.is_running():
                break
        return True

    def serve(self) -> None:
        """Serve until this process is terminated.

        Raises:
            DeploymentError: another receiver runs in this folder.
        """
        with self._hold_lock():
            _, port = self._process_id_and_port()
            # The recorded process has ended; another process may have its id now.
            self._note.write_text(f"0 {port}\n")
            signal.signal(signal.SIGTERM, _leave)
            with contextlib.suppress(SystemExit), self._listen(port) as server:
                self._note.write_text(f"{os.getpid()} {server.server_port}\n")
                server.serve_forever()

    @property
    def _note(self) -> Path:
        return self.folder / "webhook-receiver.pid"

    @property
    def _lock_file(self) -> Path:
        return self.folder / "webhook-receiver.lock"

    def _process_id_and_port(self) -> tuple[int, int]:
        try:
            process_id, port = self._note.read_text().split()
        except (OSError, ValueError):
            return 0, 0
        return int(process_id), int(port)

    def _listen(self, port: int) -> "_Server":
        try:
            return _Server(self, port)
        except OSError:
            return _Server(self, 0)

    @contextlib.contextmanager
    def _hold_lock(self) -> Iterator[None]:
        with self._lock_file.open("a") as lock:
            if not _locks(lock.fileno()):
                raise DeploymentError(f"A webhook receiver already runs in {self.folder}.")
            yield


class _Server(ThreadingHTTPServer):
    def __init__(self, receiver: WebhookReceiver, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.receiver = receiver
        self.writing = threading.Lock()

    def verdict_on(self, headers: dict[str, str], body: bytes) -> str:
        """Return ``valid`` or the reason why the webhook is invalid."""
        given = {name.lower(): value for name, value in headers.items()}
        try:
            demo = json.loads((self.receiver.folder / "demo.json").read_bytes())
            verify(
                demo["webhookSecret"],
                given.get("x-service-webhook-timestamp", ""),
                given.get("x-service-webhook-signature", ""),
                body,
                int(time.time()),
            )
        except WebhookVerificationError as refused:
            return str(refused)
        except (OSError, ValueError, KeyError):
            return "No webhook secret in demo.json yet."
        return VALID

    def keep(self, request: dict[str, Any]) -> None:
        """Append the request to the file and print one line about it."""
        line = json.dumps(request, ensure_ascii=False)
        with self.writing:
            self.receiver.received.touch(mode=0o600)  # custom headers can contain secrets
            with self.receiver.received.open("a", encoding="utf-8") as received:
                received.write(line + "\n")
            print(_in_words(request), flush=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        """Verify the webhook and store it, valid or not."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > BODY_LIMIT_BYTES:
            self.send_error(413 if length else 411)
            return
        body = self.rfile.read(int(length))
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        verdict = self.server.verdict_on(headers, body)
        self.server.keep(
            {
                "receivedAt": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "method": self.command,
                "path": self.path,
                "headers": headers,
                "body": base64.b64encode(body).decode(),
                "verdict": verdict,
            }
        )
        answer = b"Thank you.\n" if verdict == VALID else f"{verdict}\n".encode()
        self.send_response(200 if verdict == VALID else 401)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_arguments: object) -> None:
        """Do nothing: ``keep`` prints its own line."""


def _in_words(request: dict[str, Any]) -> str:
    try:
        body = json.loads(base64.b64decode(request["body"]))
        about = f"“{body['workflow']['name']}” {body['action']['key']} {body['feedback']['id']}"
    except (ValueError, KeyError, TypeError):
        about = f"{request['method']} {request['path']}"
    mark = "✓" if request["verdict"] == VALID else "✗"
    return f"{mark} Webhook received: {about}: {request['verdict']}"


def _locks(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="webhook_receiver", description=__doc__)
    parser.add_argument("folder", type=Path)
    WebhookReceiver(parser.parse_args().folder).serve()
