"""Tests of the example receivers in docs/examples, which run as processes of their own."""

import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from chalicelib.domain.webhooks.headers import webhook_headers
from chalicelib.outbound.webhook_http.exchange import post

EXAMPLES = Path(__file__).parent.parent.parent / "docs" / "examples"
RECEIVERS = ["webhook_receiver.py", "webhook_receiver.mjs"]
SECRET = "sécret"
BODY = json.dumps(
    {"workflow": {"name": "Zoë"}, "action": {"id": "a"}, "feedback": {"id": "f"}},
    ensure_ascii=False,
).encode()


@dataclass
class Example:
    process: "subprocess.Popen[str]"
    port: int

    def send(
        self,
        *,
        age_s: int = 0,
        signed: bytes = BODY,
        sent: bytes = BODY,
        signature: str | None = None,
        key: str = SECRET,
    ) -> int | None:
        timestamp = int(time.time()) - age_s
        headers = webhook_headers({}, signed, [key], execution_id="e", timestamp=timestamp)
        if signature is not None:
            headers["X-Service-Webhook-Signature"] = signature
        url = f"http://127.0.0.1:{self.port}/"
        return post(url, headers, sent, allow_private=True).status


def program_for(name: str) -> str:
    """Return the program that runs an example. Skip the test if the program is not installed."""
    program = sys.executable if name.endswith(".py") else shutil.which("node")
    if program is None:
        pytest.skip("This example requires node.")
    return program


@contextmanager
def running(name: str) -> Iterator[Example]:
    """Run an example until the end of the ``with`` block."""
    environment = os.environ | {"WEBHOOK_SECRET": SECRET, "PORT": "0"}
    with subprocess.Popen(
        [program_for(name), EXAMPLES / name], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            listening = re.search(r"port (\d+)", process.stdout.readline())
            assert listening
            yield Example(process, int(listening[1]))
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def start() -> Iterator[Callable[[str], Example]]:
    """Return a function that starts an example when the first test of the module needs it."""
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(running(name)))


@pytest.fixture(params=RECEIVERS)
def example(request: pytest.FixtureRequest, start: Callable[[str], Example]) -> Example:
    return start(request.param)


@pytest.mark.parametrize("name", RECEIVERS)
def test_duplicate_webhook_is_accepted_and_processed_once(name: str) -> None:
    with running(name) as example:
        assert [example.send(), example.send()] == [204, 204]
        example.process.terminate()
        assert example.process.stdout
        assert example.process.stdout.read() == "Zoë f\n"


@pytest.mark.parametrize(("age_s", "status"), [(-290, 204), (290, 204), (-310, 401), (310, 401)])
def test_webhook_with_timestamp_within_five_minutes_is_accepted(
    example: Example, age_s: int, status: int
) -> None:
    assert example.send(age_s=age_s) == status


def test_webhook_with_changed_body_is_rejected(example: Example) -> None:
    assert example.send(sent=BODY.replace(b"f", b"g")) == 401
    assert example.send(sent=BODY + b" ") == 401


def test_webhook_with_wrong_or_missing_signature_is_rejected(example: Example) -> None:
    assert example.send(key="other") == 401
    assert example.send(signature="") == 401
    assert example.send(signature="sha256=") == 401


def raw_exchange(example: Example, request: bytes) -> bytes:
    """Send these bytes to the receiver and return the beginning of its response."""
    with socket.create_connection(("127.0.0.1", example.port), timeout=10) as connection:
        connection.sendall(request)
        return connection.recv(65536)


def test_large_body_is_rejected_before_verification(example: Example) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n"
    assert raw_exchange(example, head + b"x" * 1_100_000).split(b" ")[1] == b"413"
    assert example.send() == 204


@pytest.mark.parametrize("length", ["-1", "x", "9" * 5_000])
def test_invalid_content_length_is_rejected(example: Example, length: str) -> None:
    request = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode()
    assert raw_exchange(example, request).split(b" ")[1][:1] == b"4"
    assert example.send() == 204


def test_reset_connections_do_not_stop_the_receiver(example: Example) -> None:
    for sent in (b"", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"):
        with socket.create_connection(("127.0.0.1", example.port)) as connection:
            connection.sendall(sent)
            # Closing the socket resets the connection instead of ending it.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert example.send() == 204
    assert example.process.poll() is None


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}"])
def test_signed_but_invalid_body_does_not_stop_the_receiver(example: Example, body: bytes) -> None:
    example.send(signed=body, sent=body)
    assert example.send() == 204


@pytest.mark.parametrize("name", RECEIVERS)
@pytest.mark.parametrize("secret", ["", None])
def test_receiver_without_secret_does_not_start(name: str, secret: str | None) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "WEBHOOK_SECRET"}
    result = subprocess.run(
        [program_for(name), EXAMPLES / name],
        env=environment | ({} if secret is None else {"WEBHOOK_SECRET": secret}) | {"PORT": "0"},
        capture_output=True,
        timeout=20,
    )
    assert result.returncode == 1
    assert b"WEBHOOK_SECRET" in result.stderr
