"""Measure the CPU time of each read endpoint, and compare it with other implementations."""

import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from importlib import import_module
from statistics import median
from typing import Any, Final
from unittest.mock import patch

from benchmarks.contenders import bare_boto3
from benchmarks.contenders.plain_reads import LISTS, READS
from benchmarks.gateway_event import Event, LambdaContext, gateway_event
from benchmarks.measurement import measured
from benchmarks.memory_cloud import CloudClient, connected_process, running_cloud
from benchmarks.report import Section, Table
from chalicelib.domain import clock

BUDGET: Final = 1.2
ROUNDS: Final = 101
BATCH_US: Final = 8_000
"""The approximate CPU time that each contender uses per round."""

APP: Final = "this service"
BARE: Final = "bare boto3"
HANDLERS: Final = {
    APP: "app:app",
    BARE: "benchmarks.contenders.bare_boto3:handler",
    "FastAPI + Mangum": "benchmarks.contenders.fastapi_mangum:handler",
    "Powertools": "benchmarks.contenders.powertools_resolver:handler",
}


Response = tuple[int, Any, Counter[str]]
"""The status and the JSON of a contender's response, and its AWS requests by operation."""
Samples = dict[str, list[float]]
"""The CPU time of one request in microseconds in each round, by contender."""


@dataclass(frozen=True)
class Contender:
    """An implementation that handles requests in its own process."""

    name: str
    process: ProcessPoolExecutor

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function with the handler's name and the arguments in the process."""
        return self.process.submit(function, HANDLERS[self.name], *arguments).result()


def measure() -> Section:
    """Measure every request with every contender and return the results."""
    with running_contenders() as (contenders, requests):
        calls = {
            name: calls_for_equal_responses(contenders, event) for name, event in requests.items()
        }
        samples = {name: _samples(contenders, event) for name, event in requests.items()}
    return _section(samples, calls)


@contextlib.contextmanager
def running_contenders() -> Iterator[tuple[list[Contender], dict[str, Event]]]:
    """Start each contender in a process. Yield the contenders, and the requests by name."""
    with running_cloud() as cloud, contextlib.ExitStack() as running:
        contenders = [
            Contender(name, running.enter_context(connected_process(cloud))) for name in HANDLERS
        ]
        with connected_process(cloud) as process:
            yield contenders, process.submit(prepare_requests).result()


def prepare_requests() -> dict[str, Event]:
    """Create the sample account. Return a request of every read endpoint."""
    from benchmarks import sample_account

    sample = sample_account.load()
    get = partial(gateway_event, "GET", headers=sample.headers)
    post = partial(gateway_event, "POST", headers=sample.headers)

    def page(path: str, limit: int) -> Event:
        return post(path, body={"limit": limit, "page": 1})

    now = clock.now()
    year = {"since": f"{now - timedelta(days=365):%F}", "until": f"{now:%F}"}
    form, survey = sample_account.CONTACT_FORM_ID, sample_account.SURVEY_ID
    return {
        "purchase": get("/partners/purchase", query={"id": sample.purchase_id}),
        "contact form": get("/partners/contact-form", query={"id": form}),
        "list of 10 contact forms": page("/partners/contact-form/list", 10),
        "survey": get("/partners/survey", query={"id": survey}),
        "list of 10 surveys": page("/partners/survey/list", 10),
        "customer": get("/partners/customer", query={"id": sample.customer_id}),
        "list of 10 customers": page("/partners/customer/list", 10),
        "list of 100 customers": page("/partners/customer/list", 100),
        "feedback": get("/partners/feedback", query={"id": sample_account.add_feedback()}),
        "page of 100 feedback": post("/partners/feedback/list", body={"limit": 100}),
        "statistics by month": post("/partners/statistics", body=year | {"interval": "MONTH"}),
        "list of survey trackers": post("/partners/survey-tracker/list", body={"limit": 100}),
    }


def compared(contenders: list[Contender], event: Event) -> list[Contender]:
    """Return the contenders that handle a request.

    If it has no handlers of its own, the bare handler repeats what the app sends and returns.
    """
    path = event["resource"]
    if path in READS or path in LISTS:
        return contenders
    app, bare, *_ = contenders
    bare.process.submit(bare_boto3.record, path, *app.call(_record, event)).result()
    return [app, bare]


def _record(handler: str, event: Event) -> tuple[list[tuple[str, str]], Any]:
    """Return the AWS requests of a read with warm caches, and the content of the response."""
    respond(handler, event)
    requests = []
    exchange = CloudClient.exchange

    def recording(client: CloudClient, operation: str, body: bytes) -> Any:
        requests.append((operation, body.decode()))
        return exchange(client, operation, body)

    with patch.object(CloudClient, "exchange", recording):
        response = _handler(handler)(event, LambdaContext())
    return requests, json.loads(response["body"])


def calls_for_equal_responses(contenders: list[Contender], event: Event) -> int:
    """Check that all contenders respond identically. Return how many AWS requests each sends.

    Raises:
        AssertionError: two contenders differ in the AWS requests, the status or the body.
    """
    contenders = compared(contenders, event)
    first, *others = (contender.call(respond, event) for contender in contenders)
    for contender, response in zip(contenders[1:], others, strict=True):
        assert response == first, f"{contender.name} differs: {response} {first}"
    calls: Counter[str] = first[2]
    return calls.total()


def respond(handler: str, event: Event) -> Response:
    """Return the response of the handler of this process, when its caches are warm."""
    _handler(handler)(event, LambdaContext())
    with measured() as measurement:
        response = _handler(handler)(event, LambdaContext())
    body = json.loads(response["body"])
    return response["statusCode"], body, Counter(measurement.requests)


def cpu_us(handler: str, event: Event, times: int) -> float:
    """Return the CPU time per request in microseconds, averaged over ``times`` requests."""
    handle, context = _handler(handler), LambdaContext()
    started = time.process_time_ns()
    for _ in range(times):
        handle(event, context)
    return (time.process_time_ns() - started) / times / 1_000


@cache
def _handler(name: str) -> Callable[[Event, Any], Any]:
    module, _, attribute = name.partition(":")
    handler: Callable[[Event, Any], Any] = getattr(import_module(module), attribute)
    return handler


def _samples(contenders: list[Contender], event: Event) -> Samples:
    contenders = compared(contenders, event)
    times = max(1, int(BATCH_US / contenders[0].call(cpu_us, event, 20)))
    for contender in contenders:
        contender.call(cpu_us, event, 20)
    samples: Samples = {contender.name: [] for contender in contenders}
    for turn in range(ROUNDS):
        # Rotate the order of the contenders, so that no contender always runs first.
        first = turn % len(contenders)
        for contender in (*contenders[first:], *contenders[:first]):
            samples[contender.name].append(contender.call(cpu_us, event, times))
    return samples


def _section(samples: dict[str, Samples], calls: dict[str, int]) -> Section:
    others = [name for name in HANDLERS if name not in (APP, BARE)]
    rows, ratios = [], {}
    for request, by_name in samples.items():
        us = {name: median(each) for name, each in by_name.items()}
        ratio = {
            name: median(a / b for a, b in zip(each, by_name[BARE], strict=True))
            for name, each in by_name.items()
        }
        cells = (f"{us[name]:.0f} ({ratio[name]:.2f})" if name in us else "" for name in others)
        rows.append((request, calls[request], us[APP], us[BARE], ratio[APP], *cells))
        if others[0] in us:
            ratios[request] = ratio[APP]
    worst = max(ratios, key=ratios.__getitem__)
    columns = {"request": "", "AWS calls": "", APP: ".0f", BARE: ".0f", "ratio": ".2f"}
    return Section(
        "CPU time of a request",
        [
            "CPU time of one warm request in microseconds: the median of interleaved rounds,"
            " each contender in its own process. All contenders receive the same gateway event and"
            " make the same DynamoDB requests. Another process keeps the tables in memory and"
            " responds. Before the"
            " measurement, the benchmark verifies that all return the same status and JSON. Only"
            " this service also checks credentials (cached, as in a warm function), validates the"
            " input and writes a log line with metrics. The bare handler uses boto3's default"
            " client, dictionaries and `json.dumps`. The FastAPI and Powertools handlers read the"
            " data with the same code as the bare handler. The column `ratio` and the numbers in"
            " brackets are the ratio of the CPU time to the CPU time of the bare handler in the"
            " same round: the median of all rounds. For feedback, statistics and survey trackers,"
            " the bare handler repeats recorded requests and returns the recorded response: it"
            " builds nothing from the data.",
            Table(columns | dict.fromkeys(others, ""), rows),
            f"Budget: at most {BUDGET} times a bare handler that builds the response. Highest"
            f" ratio: {ratios[worst]:.2f} ({worst}),"
            f" {'within' if ratios[worst] <= BUDGET else 'over'} the budget.",
        ],
    )
