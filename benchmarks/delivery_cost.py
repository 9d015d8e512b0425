"""Measure the cost of webhook deliveries, and compare it with the cost of minimal scripts."""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from statistics import median
from typing import Final

from benchmarks.processes import PROJECT, PYTHON, environment, run
from benchmarks.report import Section, Table

DELIVERIES: Final = 1_000
ROUNDS: Final = 5
_NAMES: Final = {
    "service": "this service",
    "recorded": "bare urllib3 and boto3",
    "bare": "bare urllib3",
}


def measure(deliveries: int = DELIVERIES, rounds: int = ROUNDS) -> Section:
    """Measure every contender once per round and return the results."""
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in _NAMES}
    with _receiver() as port:
        for _ in range(rounds):
            for name, measured in samples.items():
                printed = run("-m", "benchmarks.delivery_process", name, str(port), str(deliveries))
                seconds, cpu_s = json.loads(printed)
                measured.append((deliveries / seconds, cpu_s / deliveries * 1e6))
    rows = [
        (
            _NAMES[name],
            f"{median(rate for rate, _ in measured):.0f}",
            f"{median(cpu_us for _, cpu_us in measured):.0f}",
        )
        for name, measured in samples.items()
    ]
    return Section(
        "Deliveries of webhooks",
        [
            f"{deliveries:,} webhooks to a receiver on this machine, ten at a time: medians of"
            f" {rounds} rounds. For each webhook, this service claims the execution, reads its"
            " action, validates the address, signs and posts the body, evaluates the response and"
            " writes the outcome. It makes two DynamoDB requests per webhook. Prepared responses"
            " replace DynamoDB, but botocore still signs the requests and parses the responses."
            " The bare scripts sign and post with urllib3 and open a new connection per webhook."
            " One of them also makes two equivalent DynamoDB requests with boto3; the other stores"
            " nothing.",
            Table(("", "deliveries per second", "CPU per delivery, µs"), rows),
        ],
    )


@contextlib.contextmanager
def _receiver() -> Iterator[int]:
    command = [PYTHON, "-m", "benchmarks.loopback_receiver"]
    with subprocess.Popen(
        command, cwd=PROJECT, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()
