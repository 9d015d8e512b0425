"""Measure the CPU time of each read endpoint, and compare it with other implementations."""

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.contender import Contender
from benchmarks.processes import run
from benchmarks.recorded_request import read_recording
from benchmarks.report import Section, Table

BUDGET: Final = 1.2
ROUNDS: Final = 101
BATCH_US: Final = 8_000
"""The approximate CPU time that each contender uses per round."""

APP: Final = "this service"
BARE: Final = "bare boto3"
MODULES: Final = {
    APP: "benchmarks.contenders.deployed_app",
    BARE: "benchmarks.contenders.bare_boto3",
    "FastAPI + Mangum": "benchmarks.contenders.fastapi_mangum",
    "Powertools": "benchmarks.contenders.powertools_resolver",
}


@dataclass(frozen=True)
class Times:
    """The CPU time of one request, measured with every contender.

    Attributes:
        us: the median CPU time in microseconds, by contender.
        ratio: the median ratio to the CPU time of the bare boto3 handler, by contender.
    """

    us: dict[str, float]
    ratio: dict[str, float]


def measure(rounds: int = ROUNDS) -> Section:
    """Measure every recorded request with every contender and return the results."""
    with running_contenders() as (contenders, requests):
        calls = {request: calls_for_equal_responses(contenders, request) for request in requests}
        times = {request: _times(contenders, request, rounds) for request in requests}
    return _section(times, calls)


@contextlib.contextmanager
def running_contenders() -> Iterator[tuple[list[Contender], list[str]]]:
    """Start each contender in a separate process; yield the contenders and the request names."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        recording = Path(folder) / "recording.json"
        run("-m", "benchmarks.recording", recording)
        contenders = [
            running.enter_context(Contender(name, module, recording))
            for name, module in MODULES.items()
        ]
        yield contenders, [request.name for request in read_recording(recording)]


def calls_for_equal_responses(contenders: Sequence[Contender], request: str) -> int:
    """Check that all contenders respond identically. Return how many AWS requests each sends.

    Raises:
        AssertionError: two contenders differ in the AWS requests, the status or the body.
    """
    first, *others = (contender.response(request) for contender in contenders)
    for contender, response in zip(contenders[1:], others, strict=True):
        assert response == first, f"{contender.name} differs on {request}: {response} {first}"
    return sum(first.calls.values())


def _times(contenders: Sequence[Contender], request: str, rounds: int) -> Times:
    times = max(1, int(BATCH_US / contenders[0].cpu_us(request, times=20)))
    for contender in contenders:
        contender.cpu_us(request, times=20)
    samples: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for turn in range(rounds):
        # Rotate the order of the contenders, so that no contender always runs first.
        first = turn % len(contenders)
        for contender in (*contenders[first:], *contenders[:first]):
            samples[contender.name].append(contender.cpu_us(request, times))
    return Times(
        {name: median(us) for name, us in samples.items()},
        {
            name: median(a / b for a, b in zip(us, samples[BARE], strict=True))
            for name, us in samples.items()
        },
    )


def _section(times: dict[str, Times], calls: dict[str, int]) -> Section:
    others = [name for name in MODULES if name not in (APP, BARE)]
    rows = [
        (
            request,
            str(calls[request]),
            f"{time.us[APP]:.0f}",
            f"{time.us[BARE]:.0f}",
            f"{time.ratio[APP]:.2f}",
            *(f"{time.us[name]:.0f} ({time.ratio[name]:.2f})" for name in others),
        )
        for request, time in times.items()
    ]
    worst = max(times, key=lambda request: times[request].ratio[APP])
    ratio = times[worst].ratio[APP]
    return Section(
        "CPU time of a request",
        [
            "CPU time of one warm request in microseconds: the median of interleaved rounds,"
            " each contender in its own process. All contenders receive the same gateway event,"
            " make the same DynamoDB requests and get the same recorded responses. Before the"
            " measurement, the benchmark verifies that all return the same status and JSON. Only"
            " this service also checks credentials (cached, as in a warm function), validates the"
            " input and writes a log line with metrics. The bare handler uses boto3's default"
            " client, dictionaries and `json.dumps`. The FastAPI and Powertools handlers read the"
            " data with the same code as the bare handler. The column `ratio` and the numbers in"
            " brackets are the ratio of the CPU time to the CPU time of the bare handler in the"
            " same round: the median of all rounds.",
            Table(
                ("request", "AWS calls", APP, BARE, "ratio", *others),
                rows,
            ),
            f"Budget: at most {BUDGET} times the bare handler. Highest ratio:"
            f" {ratio:.2f} ({worst}), {'within' if ratio <= BUDGET else 'over'} the budget.",
        ],
    )
