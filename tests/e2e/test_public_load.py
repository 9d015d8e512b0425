"""Test that each submission is stored and counted once, even if functions are killed."""

import contextlib
import json
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.e2e.cloud import TIMEOUT_S, Cloud
from tests.e2e.public_forms import PublicForms
from tests.e2e.sweeping import sweep_until_finished

SUBMISSIONS = 300
CLIENTS = 12
RESPONDENTS = 60
KILLED_AT = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The shares of `SUBMISSIONS`, from 0 to 1, at which the test kills function processes."""
KILLED_AT_ONCE = 4
"""Number of processes of each function that the test kills at once.

The emulator replaces a killed process within 2 seconds.
"""


@dataclass
class Load:
    """The results of all clients that submit feedback.

    Attributes:
        accepted: number of accepted submissions by form id.
        retried: number of requests that a client retried, by error.
        killed: number of killed processes by function.
    """

    accepted: Counter[str] = field(default_factory=Counter)
    retried: Counter[str] = field(default_factory=Counter)
    killed: Counter[str] = field(default_factory=Counter)
    durations_s: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class OpenForm:
    """A form that accepts public submissions."""

    kind: str
    id: str
    view: Any


@contextmanager
def kill_functions(cloud: Cloud, load: Load) -> Iterator[None]:
    """Kill processes each time that the accepted submissions reach a share in `KILLED_AT`."""
    finished = threading.Event()

    def kill() -> None:
        for fraction in KILLED_AT:
            while load.accepted.total() < fraction * SUBMISSIONS and not finished.wait(0.05):
                pass
            for function in ("process_feedback", "api_handler"):
                for process in cloud.function_processes(function)[:KILLED_AT_ONCE]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                        load.killed[function] += 1

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        finished.set()
        killer.join()


def open_forms(forms: PublicForms) -> list[OpenForm]:
    """Return the forms of the demo account that accept public submissions."""
    demo = forms.cloud.demo
    headers = {"X-API-KEY": demo["apiKey"], "X-API-SECRET": demo["apiSecret"]}
    public_forms = []
    for kind in ("contact-form", "survey"):
        page = forms.cloud.http.post(f"/partners/{kind}/list", json={"limit": 100}, headers=headers)
        for form in page.json()["items"]:
            if form["enabled"] and form.get("publiclyAvailable", True):
                public_forms.append(OpenForm(kind, form["id"], forms.view(kind, form["id"])))
    return public_forms


def submit(forms: PublicForms, http: httpx.Client, form: OpenForm, number: int, load: Load) -> None:
    """Submit valid answers with an idempotency key, and retry until the submission is accepted."""
    answers = forms.answers(form.view)
    emails = {f["id"] for f in form.view["fields"] if f["type"] == "EMAIL"}
    for answer in answers:
        if answer["id"] in emails:
            answer["values"] = [f"load{number % RESPONDENTS}@example.test"]
    files = {"id": (None, form.id), "fields": (None, json.dumps(answers))}
    headers = {"Idempotency-Key": os.urandom(12).hex()}
    path = f"/public/{form.kind}/submit"
    for _ in range(20):
        started = time.monotonic()
        try:
            response = http.post(path, files=files, headers=headers)
        except httpx.TransportError as error:
            load.retried[type(error).__name__] += 1
            continue
        if response.status_code in (201, 204):
            load.durations_s.append(time.monotonic() - started)
            load.accepted[form.id] += 1
            return
        assert response.status_code >= 500, response.text
        load.retried[str(response.status_code)] += 1
        time.sleep(random.uniform(0.5, 2))
    raise AssertionError("The submission was not accepted.")


def feedback_rows(cloud: Cloud) -> list[dict[str, Any]]:
    """Return all feedback rows without their compressed JSON attribute."""
    pages = (
        cloud.client("dynamodb")
        .get_paginator("scan")
        .paginate(
            TableName=cloud.resource_name("feedback"),
            ProjectionExpression="form_id, customer_id, #state, due_at",
            ExpressionAttributeNames={"#state": "state"},
        )
    )
    return [
        {name: next(iter(value.values())) for name, value in item.items()}
        for page in pages
        for item in page["Items"]
    ]


def feedback_counts(cloud: Cloud) -> int:
    """Return the sum of all customers' feedback counts."""
    pages = (
        cloud.client("dynamodb")
        .get_paginator("scan")
        .paginate(TableName=cloud.resource_name("customers"), ProjectionExpression="feedback_count")
    )
    return sum(
        int(item["feedback_count"]["N"])
        for page in pages
        for item in page["Items"]
        if "feedback_count" in item
    )


def test_every_accepted_submission_is_stored_and_counted_once(forms: PublicForms) -> None:
    cloud, load = forms.cloud, Load()
    available = open_forms(forms)
    assert len(available) >= 3
    before = Counter(row["form_id"] for row in feedback_rows(cloud))
    started = time.monotonic()
    with (
        httpx.Client(base_url=cloud.base_url, timeout=TIMEOUT_S, trust_env=False) as http,
        kill_functions(cloud, load),
        ThreadPoolExecutor(CLIENTS) as pool,
    ):

        def submit_one(number: int) -> None:
            submit(forms, http, available[number % len(available)], number, load)

        list(pool.map(submit_one, range(SUBMISSIONS)))
    submission_s = time.monotonic() - started

    sweep_until_finished(
        cloud, lambda: sum(row["state"] != "DONE" for row in feedback_rows(cloud)), within_s=600
    )
    rows = feedback_rows(cloud)
    after = Counter(row["form_id"] for row in rows)
    durations_s = sorted(load.durations_s)
    print(  # noqa: T201 - report measurements
        f"\n{SUBMISSIONS} submissions to {len(available)} forms in {submission_s:.0f} s,"
        f" median {durations_s[len(durations_s) // 2]:.2f} s; sent again {dict(load.retried)};"
        f" killed {dict(load.killed)};"
        f" all counted {time.monotonic() - started - submission_s:.0f} s later"
    )
    assert load.killed.keys() == {"api_handler", "process_feedback"}
    assert load.accepted.total() == SUBMISSIONS
    assert after - before == load.accepted
    assert not [row for row in rows if "due_at" in row]
    for form in available:
        assert forms.submissions(form.kind, form.id) == after[form.id]
    assert feedback_counts(cloud) == sum("customer_id" in row for row in rows)
