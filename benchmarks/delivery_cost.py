"""The CPU time of delivering a webhook, compared with a bare script that signs and posts."""

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
    """Measure the contenders in alternating rounds."""
    metric_fields: dict[str, list[tuple[float, float]]] = {name: [] for name in _NAMES}
    with _receiver() as port:
        for _ in range(rounds):
            for name, times in metric_fields.items():
                printed = run("-m", "benchmarks.delivery_process", name, str(port), str(deliveries))
                seconds, cpu_s = json.loads(printed)
                times.append((deliveries / seconds, cpu_s / deliveries * 1e6))
    rows = [
        (
            _NAMES[name],
            f"{median(rate for rate, _ in times):.0f}",
            f"{median(cpu_us for _, cpu_us in times):.0f}",
        )
        for name, times in metric_fields.items()
    ]
    return Section(
        "Deliveries of webhooks",
        [
            f"{deliveries} webhooks to a receiver on this machine, ten concurrent: the median of"
            f" {rounds} rounds. This service claims each execution, reads its action, validates"
            " the address, signs, posts, evaluates the response and writes the outcome. Prepared"
            " responses replace DynamoDB (two requests per delivery); requests are still signed"
            " and responses parsed. The bare scripts sign and post with urllib3, one connection"
            " each; one also makes the same two requests with boto3, the other stores nothing.",
            Table(("", "deliveries a second", "CPU a delivery (µs)"), rows),
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
