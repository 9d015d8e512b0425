"""Test that all contenders send the same AWS requests and return the same responses."""

from benchmarks.request_cost import calls_for_equal_responses, running_contenders

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


def test_contenders_return_same_responses_as_app_and_use_cpu_time() -> None:
    with running_contenders() as (contenders, requests):
        calls = {request: calls_for_equal_responses(contenders, request) for request in requests}
        assert calls == CALLS
        assert all(contender.cpu_us("customer", times=2) > 0 for contender in contenders)
