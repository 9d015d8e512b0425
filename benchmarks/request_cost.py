"""Measure the CPU time of warm requests, and compare it with minimal handlers."""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from typing import Any, Final

from benchmarks import contenders
from benchmarks.gateway_event import SUBMIT, Event, LambdaContext, gateway_event, submission
from benchmarks.measurement import measured
from benchmarks.memory_cloud import connected_process, running_cloud
from benchmarks.report import Section, Table, met
from chalicelib.domain import clock
from chalicelib.services import caching
from chalicelib.settings import settings

READ_BUDGET: Final = 1.2
LIST_BUDGET: Final = 0.8
SUBMIT_BUDGET: Final = 1.25
ROUNDS: Final = 101
BATCH_US: Final = 8_000
"""The approximate CPU time that each contender uses per round."""

APP: Final = "this service"
BARE: Final = "bare boto3"


def _app() -> contenders.Handler:
    from app import app

    return app


_HANDLERS: Final = {
    APP: _app,
    BARE: contenders.bare,
    "FastAPI + Mangum": contenders.fastapi,
    "Powertools": contenders.powertools,
}
OTHERS: Final = list(_HANDLERS)[2:]
_handler: Final = cache(lambda name: _HANDLERS[name]())

Samples = dict[str, list[float]]
"""The CPU time of one request in microseconds in each round, by contender."""


@dataclass(frozen=True)
class Contender:
    """An implementation that handles requests in its own process."""

    name: str
    process: ProcessPoolExecutor

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function with the contender's name and the arguments in the process."""
        return self.process.submit(function, self.name, *arguments).result()


def measure() -> Section:
    """Measure every request with its contenders and return the results."""
    with running_contenders() as (all_contenders, requests):
        samples, calls = {}, {}
        for name, event in requests.items():
            selected, calls[name] = prepare(all_contenders, event)
            samples[name] = _samples(selected, event)
    return _section(samples, calls)


@contextlib.contextmanager
def running_contenders() -> Iterator[tuple[list[Contender], dict[str, Event]]]:
    """Start each contender in a process. Yield the contenders, and the requests by name."""
    with running_cloud() as cloud, contextlib.ExitStack() as running:
        started = [
            Contender(name, running.enter_context(connected_process(cloud))) for name in _HANDLERS
        ]
        for contender in started:
            contender.call(prepare_settings)
        with connected_process(cloud) as process:
            yield started, process.submit(_prepare_requests).result()


def prepare_settings(_name: str = "") -> None:
    """Raise the limit of submissions, and fix the time, so that cached values never expire."""
    os.environ["SUBMISSIONS"] = "1000000000"
    settings.cache_clear()
    started = time.monotonic()
    caching.wall_clock_s = lambda: started


def _prepare_requests() -> dict[str, Event]:
    """Create the sample account. Return requests that read, view and submit."""
    from benchmarks import sample_account

    sample = sample_account.load()
    get = partial(gateway_event, "GET", headers=sample.headers)
    post = partial(gateway_event, "POST", headers=sample.headers)
    now = clock.now()
    year = {"since": f"{now - timedelta(days=365):%F}", "until": f"{now:%F}"}
    form, survey = sample_account.CONTACT_FORM_ID, sample_account.SURVEY_ID
    public = partial(gateway_event, "GET", query={"id": form})
    answers = json.dumps(sample_account.contact_form_answers())
    return {
        "purchase": get("/partners/purchase", query={"id": sample.purchase_id}),
        "contact form": get("/partners/contact-form", query={"id": form}),
        "list of 10 contact forms": post("/partners/contact-form/list", body={"limit": 10}),
        "survey": get("/partners/survey", query={"id": survey}),
        "customer": get("/partners/customer", query={"id": sample.customer_id}),
        "list of 10 customers": post("/partners/customer/list", body={"limit": 10}),
        "list of 100 customers": post("/partners/customer/list", body={"limit": 100}),
        "feedback": get("/partners/feedback", query={"id": sample_account.add_feedback()}),
        "page of 100 feedback": post("/partners/feedback/list", body={"limit": 100}),
        "statistics by month": post("/partners/statistics", body=year | {"interval": "MONTH"}),
        "list of survey trackers": post("/partners/survey-tracker/list", body={"limit": 100}),
        "view of a contact form": public("/public/contact-form"),
        "page of a contact form": public("/public/contact-form/page"),
        "submit a contact form": submission(SUBMIT, ("id", form), ("fields", answers)),
    }


def prepare(all_contenders: list[Contender], event: Event) -> tuple[list[Contender], int]:
    """Warm the contenders that handle a request. Return them, and the number of AWS requests.

    Raises:
        AssertionError: two contenders send different numbers of AWS requests.
    """
    app, bare, *frameworks = all_contenders
    requests = app.call(_sent, event)
    if not requests:
        return [app], 0
    compared = [app, bare, *(() if event["path"] == SUBMIT else frameworks)]
    for contender in compared[1:]:
        contender.process.submit(contenders.remember, event["path"], requests).result()
    (calls,) = {len(contender.call(_sent, event)) for contender in compared}
    return compared, calls


def _sent(name: str, event: Event) -> contenders.Requests:
    """Return the AWS requests of a request with warm caches."""
    _respond(name, event)
    with measured() as measurement:
        _respond(name, event)
    return measurement.requests


def _respond(name: str, event: Event) -> None:
    response = _handler(name)(event, LambdaContext())
    assert response["statusCode"] < 300, response


def cpu_us(name: str, event: Event, times: int) -> float:
    """Return the CPU time per request in microseconds, averaged over ``times`` requests."""
    handle, context = _handler(name), LambdaContext()
    started = time.process_time_ns()
    for _ in range(times):
        handle(event, context)
    return (time.process_time_ns() - started) / times / 1_000


def _samples(compared: list[Contender], event: Event) -> Samples:
    times = max(1, int(BATCH_US / compared[0].call(cpu_us, event, 20)))
    for contender in compared:
        contender.call(cpu_us, event, 20)
    samples: Samples = {contender.name: [] for contender in compared}
    for turn in range(ROUNDS):
        # Rotate the order of the contenders, so that no contender always runs first.
        first = turn % len(compared)
        for contender in (*compared[first:], *compared[:first]):
            samples[contender.name].append(contender.call(cpu_us, event, times))
    return samples


def _section(samples: dict[str, Samples], calls: dict[str, int]) -> Section:
    rows, ratios = [], {}
    for request, by_name in samples.items():
        us = {name: min(each) for name, each in by_name.items()}
        ratio = {name: us[name] / us[BARE] for name in us if BARE in us}
        ratios[request] = ratio.get(APP, 0)
        others = [ratio.get(name) for name in (APP, *OTHERS)]
        rows.append((request, calls[request], us[APP], us.get(BARE), *others))
    reads = max(ratios[name] for name in ("purchase", "contact form", "survey", "customer"))
    targets = {
        f"reads of one record, at most {READ_BUDGET}": reads <= READ_BUDGET,
        f"list of 100 customers, at most {LIST_BUDGET}": ratios["list of 100 customers"]
        <= LIST_BUDGET,
        f"submission, at most {SUBMIT_BUDGET}": ratios["submit a contact form"] <= SUBMIT_BUDGET,
    }
    columns = {"request": "", "AWS calls": "", APP: ".0f", BARE: ".0f", "ratio": ".2f"}
    return Section(
        "CPU time of a request",
        [
            f"CPU time of one warm request in microseconds: the lowest of {ROUNDS} interleaved"
            " rounds, each contender in its own process. Another process keeps the tables in"
            " memory and responds. This service checks credentials (cached, as in a warm function),"
            " validates the input, builds the response and writes a log line with metrics. The bare"
            " handler repeats the same AWS requests with boto3's default client, and returns the"
            " attributes of the rows with `json.dumps`. It converts nothing, so it does less than"
            " any handler that builds the response. For the submission, it parses the body and"
            " writes the same rows. FastAPI and Powertools wrap the bare handler. 'ratio' and the"
            " last columns are ratios to the CPU time of the bare handler.",
            Table(columns | dict.fromkeys(OTHERS, ".2f"), rows),
            f"Targets for the ratio: {met(targets)}.",
        ],
    )
