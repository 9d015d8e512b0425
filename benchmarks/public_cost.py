"""Measure the cost of viewing and submitting forms and of validating answers."""

import json
from typing import Final

from benchmarks.processes import run
from benchmarks.report import Section, Table

_NAMES: Final = {
    "view": "view a contact form",
    "page": "open the page of a contact form",
    "submit": "submit a contact form",
}


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
                _NAMES[name],
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
    sizes = Table(
        ("response", "bytes", "compressed bytes"),
        [
            (name, f"{size['bytes']:,}", f"{size['gzip']:,}")
            for name, size in figures["sizes"].items()
        ],
    )
    return Section(
        "Public forms",
        [
            "CPU time of one warm request in process, with immediate responses from AWS. The p50"
            " and p99 columns are this service's latency. The bare view handler returns a cached"
            " response body and checks nothing; the bare page handler returns the same page for"
            " every request. The bare submit handler parses the body and makes"
            " the same AWS requests; it validates and logs nothing.",
            requests,
            "Sizes of the responses. The page contains the style sheet. Every other page uses the"
            " same script, which browsers cache.",
            sizes,
            "CPU time to validate a submission that answers every field:",
            validation,
        ],
    )
