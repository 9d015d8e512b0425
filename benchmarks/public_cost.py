"""The cost of viewing, submitting and validating forms, compared with bare boto3 handlers."""

import json

from benchmarks.processes import run
from benchmarks.report import Section, Table


def measure() -> Section:
    """Measure in a child process whose network responds at once."""
    printed = run("-m", "benchmarks.public_cost_process").splitlines()
    figures = json.loads(next(line for line in reversed(printed) if '"judging"' in line))
    requests = Table(
        ("Request", "AWS", "this service, µs", "bare, µs", "ratio", "p50, µs", "p99, µs"),
        [
            (
                {"show": "contact form, shown", "submit": "contact form, submitted"}[name],
                str(it["calls"]),
                f"{it['own_us']:.0f}",
                f"{it['bare_us']:.0f}",
                f"{it['own_us'] / it['bare_us']:.2f}",
                f"{it['p50_us']:.0f}",
                f"{it['p99_us']:.0f}",
            )
            for name, it in figures["requests"].items()
        ],
    )
    judging = Table(
        ("Form", "dependencies", "judged in, ms"),
        [
            (name, str(it["dependencies"]), f"{it['ms']:.2f}")
            for name, it in figures["judging"].items()
        ],
    )
    return Section(
        "Public forms",
        [
            "CPU time of a warm request in process with immediate responses from AWS; the last"
            " two columns are this service's latency. The bare view handler returns a cached text"
            " and checks nothing. The bare submit handler parses the body and makes the same"
            " requests to AWS; it validates and logs nothing.",
            requests,
            "Validating a submission that answers every field:",
            judging,
        ],
    )
