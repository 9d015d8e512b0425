"""Test that all contenders send the same AWS requests and return the same responses."""

from collections.abc import Iterator

import pytest

from benchmarks.contender import Contender
from benchmarks.request_cost import calls_for_equal_responses, running_contenders

Running = tuple[list[Contender], list[str]]

CALLS = {
    "purchase": 2,
    "contact form": 1,
    "list of 10 contact forms": 3,
    "survey": 1,
    "list of 10 surveys": 3,
    "customer": 1,
    "list of 10 customers": 2,
    "list of 100 customers": 2,
}


@pytest.fixture(scope="module")
def comparison() -> Iterator[Running]:
    with running_contenders() as running:
        yield running


def test_contenders_return_same_responses_as_app(comparison: Running) -> None:
    contenders, requests = comparison
    calls = {request: calls_for_equal_responses(contenders, request) for request in requests}
    assert calls == CALLS


def test_every_contender_uses_measurable_cpu_time(comparison: Running) -> None:
    contenders, _ = comparison
    assert all(contender.cpu_us("customer", times=2) > 0 for contender in contenders)
