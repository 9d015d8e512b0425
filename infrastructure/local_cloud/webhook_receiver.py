"""The webhook receiver of the demo. It verifies, prints and stores each webhook that it receives.

The receiver runs in a separate process next to the emulator. While it runs, it has a lock on a file
in the state folder. This folder also contains the receiver's port. The receiver uses the same port
after a restart, so that the URL in the demo's workflows stays valid.
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
    """Start and stop the receiver's process, and detect whether it is running.

    Attributes:
        folder: the state folder. The file ``demo.json`` in this folder contains the webhook secret.
    """

    folder: Path

    @property
    def received(self) -> Path:
        """The file that contains one JSON line per received request."""
        return self.folder / "webhooks.jsonl"

    @property
    def log(self) -> Path:
        """The file with the receiver's output if it runs in the background."""
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
        """Return whether a receiver with this state folder is running."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._lock_file.open("a") as lock:
            return not _locks(lock.fileno())

    def start(self, *, printing: bool = False) -> "subprocess.Popen[bytes] | None":
        """Start the receiver and return its process, or None if it is already running.

        Args:
            printing: whether the receiver prints to this process's standard output instead of the
                log.

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
        """Stop the receiver and return whether it was running.

        The stored port and the received webhooks are not deleted.
        """
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
            DeploymentError: another receiver is already running in this folder.
        """
        with self._hold_lock():
            _, port = self._process_id_and_port()
            # The process with the stored id has ended, and another process may have this id now.
            self._pid_file.write_text(f"0 {port}\n")
            signal.signal(signal.SIGTERM, _exit)
            with contextlib.suppress(SystemExit), self._listen(port) as server:
                self._pid_file.write_text(f"{os.getpid()} {server.server_port}\n")
                server.serve_forever()

    @property
    def _pid_file(self) -> Path:
        return self.folder / "webhook-receiver.pid"

    @property
    def _lock_file(self) -> Path:
        return self.folder / "webhook-receiver.lock"

    def _process_id_and_port(self) -> tuple[int, int]:
        try:
            process_id, port = self._pid_file.read_text().split()
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
                raise DeploymentError(f"A webhook receiver is already running in {self.folder}.")
            yield


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
    return _escaped(f"{mark} Webhook received: {about}: {request['verdict']}")


def _escaped(text: str) -> str:
    """Escape control characters and line separators, which could control a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _locks(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _exit(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="webhook_receiver", description=__doc__)
    parser.add_argument("folder", type=Path)
    WebhookReceiver(parser.parse_args().folder).serve()
