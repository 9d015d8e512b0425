"""Test that all contenders send the same AWS requests."""

from benchmarks.request_cost import cpu_us, prepare, running_contenders

CALLS = {
    "purchase": 2,
    "contact form": 1,
    "list of 10 contact forms": 3,
    "survey": 1,
    "customer": 1,
    "list of 10 customers": 2,
    "list of 100 customers": 2,
    "feedback": 1,
    "page of 100 feedback": 2,
    "statistics by month": 1,
    "list of survey trackers": 2,
    "view of a contact form": 0,
    "page of a contact form": 0,
    "submit a contact form": 3,
}


def test_contenders_send_same_aws_requests_and_use_cpu_time() -> None:
    with running_contenders() as (contenders, requests):
        compared = {name: prepare(contenders, event) for name, event in requests.items()}
        assert {name: calls for name, (_, calls) in compared.items()} == CALLS
        for contender in contenders:
            assert contender.call(cpu_us, requests["customer"], 2) > 0
