"""Test that all contenders send the same AWS requests and return the same responses."""

from benchmarks.request_cost import calls_for_equal_responses, cpu_us, running_contenders

CALLS = {
    "purchase": 2,
    "contact form": 1,
    "list of 10 contact forms": 3,
    "survey": 1,
    "list of 10 surveys": 3,
    "customer": 1,
    "list of 10 customers": 2,
    "list of 100 customers": 2,
    "feedback": 1,
    "page of 100 feedback": 2,
    "statistics by month": 1,
    "list of survey trackers": 2,
}


def test_contenders_return_same_responses_as_app_and_use_cpu_time() -> None:
    with running_contenders() as (contenders, requests):
        calls = {
            name: calls_for_equal_responses(contenders, event) for name, event in requests.items()
        }
        assert calls == CALLS
        assert all(each.call(cpu_us, requests["customer"], 2) > 0 for each in contenders)
