"""The receivers that the documentation shows, run as they are."""

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
    {"workflow": {"name": "Zoë"}, "feedback": {"id": "f"}}, ensure_ascii=False
).encode()


@dataclass
class Example:
    process: "subprocess.Popen[str]"
    port: int

    def answer(
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
        pytest.skip("This example needs node, which is not on this machine.")
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


def test_a_genuine_webhook_is_taken_and_a_repeat_of_it_handled_once(example: Example) -> None:
    assert [example.answer(), example.answer()] == [204, 204]
    example.process.terminate()
    assert example.process.stdout
    assert example.process.stdout.read() == "Zoë f\n"


@pytest.mark.parametrize("age_s", [-290, 290])
def test_one_of_the_last_or_next_five_minutes_is_taken(example: Example, age_s: int) -> None:
    assert example.answer(age_s=age_s) == 204


@pytest.mark.parametrize("age_s", [-310, 310])
def test_an_old_and_a_future_timestamp_are_refused(example: Example, age_s: int) -> None:
    assert example.answer(age_s=age_s) == 401


def test_a_changed_byte_is_refused(example: Example) -> None:
    assert example.answer(sent=BODY.replace(b"f", b"g")) == 401
    assert example.answer(sent=BODY + b" ") == 401


def test_another_secret_and_no_signature_are_refused(example: Example) -> None:
    assert example.answer(key="other") == 401
    assert example.answer(signature="") == 401
    assert example.answer(signature="sha256=") == 401
