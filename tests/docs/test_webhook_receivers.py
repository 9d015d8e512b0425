"""Tests of the example receivers in docs/examples, each run as a separate process."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chalicelib.domain.webhooks.headers import webhook_headers
from chalicelib.domain.webhooks.signature import sign
from chalicelib.outbound.webhook_http.exchange import post

EXAMPLES = Path(__file__).parent.parent.parent / "docs" / "examples"
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
        headers = webhook_headers(
            {},
            execution_id="e",
            timestamp=timestamp,
            signature=sign(key, timestamp, signed) if signature is None else signature,
        )
        url = f"http://127.0.0.1:{self.port}/"
        return post(url, headers, sent, allow_private=True).status


@pytest.fixture(params=["webhook_receiver.py", "webhook_receiver.mjs"])
def example(request: pytest.FixtureRequest) -> Iterator[Example]:
    path = EXAMPLES / request.param
    program = sys.executable if path.suffix == ".py" else shutil.which("node")
    if program is None:
        pytest.skip("This example requires node.")
    environment = os.environ | {"WEBHOOK_SECRET": SECRET, "PORT": "0"}
    with subprocess.Popen(
        [program, path], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            listening = re.search(r"port (\d+)", process.stdout.readline())
            assert listening
            yield Example(process, int(listening[1]))
        finally:
            process.terminate()


def test_duplicate_webhook_is_accepted_and_processed_once(example: Example) -> None:
    assert [example.send(), example.send()] == [204, 204]
    example.process.terminate()
    assert example.process.stdout
    assert example.process.stdout.read() == "Zoë f\n"


@pytest.mark.parametrize("age_s", [-290, 290])
def test_webhook_with_timestamp_within_five_minutes_is_accepted(
    example: Example, age_s: int
) -> None:
    assert example.send(age_s=age_s) == 204


@pytest.mark.parametrize("age_s", [-310, 310])
def test_webhook_with_old_or_future_timestamp_is_rejected(example: Example, age_s: int) -> None:
    assert example.send(age_s=age_s) == 401


def test_webhook_with_changed_body_is_rejected(example: Example) -> None:
    assert example.send(sent=BODY.replace(b"f", b"g")) == 401
    assert example.send(sent=BODY + b" ") == 401


def test_webhook_with_wrong_or_missing_signature_is_rejected(example: Example) -> None:
    assert example.send(key="other") == 401
    assert example.send(signature="") == 401
    assert example.send(signature="sha256=") == 401
