"""The CPU time of each read endpoint, compared with other implementations."""

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
"""The approximate CPU time of a contender's turn."""

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
    """The cost of one request per contender: microseconds, and the ratio to the bare handler."""

    us: dict[str, float]
    ratio: dict[str, float]


def measure(rounds: int = ROUNDS) -> Section:
    """Compare all contenders on all read endpoints."""
    with running_contenders() as (contenders, requests):
        calls = {request: calls_for_equal_answers(contenders, request) for request in requests}
        times = {request: _times(contenders, request, rounds) for request in requests}
    return _section(times, calls)


@contextlib.contextmanager
def running_contenders() -> Iterator[tuple[list[Contender], list[str]]]:
    """Start all contenders, each in its own process, and list the requests that they can serve."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        recording = Path(folder) / "recording.json"
        run("-m", "benchmarks.recording", recording)
        contenders = [
            running.enter_context(Contender(name, module, recording))
            for name, module in MODULES.items()
        ]
        yield contenders, [request.name for request in read_recording(recording)]


def calls_for_equal_answers(contenders: Sequence[Contender], request: str) -> int:
    """Return the number of AWS requests of one request, which is the same for all contenders.

    Raises:
        AssertionError: a contender differs in the number, the status or the body.
    """
    first, *others = (contender.response(request) for contender in contenders)
    for contender, response in zip(contenders[1:], others, strict=True):
        assert response == first, f"{contender.name} differs on {request}: {response} {first}"
    return sum(first.calls.values())


def _times(contenders: Sequence[Contender], request: str, rounds: int) -> Times:
    times = max(1, int(BATCH_US / contenders[0].cpu_us(request, times=20)))
    for contender in contenders:
        contender.cpu_us(request, times=20)
    metric_fields: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for turn in range(rounds):
        # Shuffle, so that no contender always follows the same one.
        first = turn % len(contenders)
        for contender in (*contenders[first:], *contenders[:first]):
            metric_fields[contender.name].append(contender.cpu_us(request, times))
    return Times(
        {name: median(us) for name, us in metric_fields.items()},
        {
            name: median(a / b for a, b in zip(us, metric_fields[BARE], strict=True))
            for name, us in metric_fields.items()
        },
    )


def _section(times: dict[str, Times], calls: dict[str, int]) -> Section:
    others = [name for name in MODULES if name not in (APP, BARE)]
    rows = [
        (
            request,
            str(calls[request]),
            f"{it.us[APP]:.0f}",
            f"{it.us[BARE]:.0f}",
            f"{it.ratio[APP]:.2f}",
            *(f"{it.us[name]:.0f} ({it.ratio[name]:.2f})" for name in others),
        )
        for request, it in times.items()
    ]
    worst = max(times, key=lambda request: times[request].ratio[APP])
    ratio = times[worst].ratio[APP]
    return Section(
        "CPU time of a request",
        [
            "CPU time of one warm request in microseconds: the median of interleaved rounds,"
            " each contender in its own process. All contenders receive the same gateway event,"
            " make the same requests to DynamoDB, get the same recorded responses and return the"
            " same status and JSON, which is verified first. This service also checks credentials"
            " (cached, as in a warm function), validates the input and writes a log line with"
            " metrics. The bare handler uses boto3's default client, dictionaries and"
            " `json.dumps`. FastAPI and Powertools serve the same reads. Ratios, also those in"
            " brackets, are the medians of the rounds' ratios to the bare handler.",
            Table(
                ("request", "AWS calls", APP, BARE, "ratio", *others),
                rows,
            ),
            f"Budget: at most {BUDGET} times the bare handler. Highest: {ratio:.2f} ({worst}),"
            f" {'within' if ratio <= BUDGET else 'over'} the budget.",
        ],
    )
