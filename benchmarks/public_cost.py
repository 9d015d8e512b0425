"""Measure the cost of viewing and submitting forms and of validating answers."""

import json

from benchmarks.processes import run
from benchmarks.report import Section, Table


def measure() -> Section:
    """Measure requests and validations in a child process, and return the results.

    In the child process, canned responses replace AWS.
    """
    printed = run("-m", "benchmarks.public_cost_process").splitlines()
    figures = json.loads(next(line for line in reversed(printed) if '"validation"' in line))
    requests = Table(
        ("request", "AWS requests", "this service, µs", "bare, µs", "ratio", "p50, µs", "p99, µs"),
        [
            (
                {"view": "view a contact form", "submit": "submit a contact form"}[name],
                str(request["calls"]),
                f"{request['service_us']:.0f}",
                f"{request['bare_us']:.0f}",
                f"{request['service_us'] / request['bare_us']:.2f}",
                f"{request['p50_us']:.0f}",
                f"{request['p99_us']:.0f}",
            )
            for name, request in figures["requests"].items()
        ],
    )
    validation = Table(
        ("form", "dependencies", "time, ms"),
        [
            (name, str(form["dependencies"]), f"{form['ms']:.2f}")
            for name, form in figures["validation"].items()
        ],
    )
    return Section(
        "Public forms",
        [
            "CPU time of one warm request in process, with immediate responses from AWS. The p50"
            " and p99 columns are this service's latency. The bare view handler returns a cached"
            " response body and checks nothing. The bare submit handler parses the body and makes"
            " the same AWS requests; it validates and logs nothing.",
            requests,
            "CPU time to validate a submission that answers every field:",
            validation,
        ],
    )
