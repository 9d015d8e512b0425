"""Compare the most expensive known rejected requests with the most expensive valid ones."""

import json
from operator import itemgetter
from typing import Any, Final

from benchmarks.processes import run
from benchmarks.report import Section, Table

MAX_CPU_RATIO: Final = 5
MAX_MEMORY_RATIO: Final = 2

Cost = dict[str, Any]


def measure() -> Section:
    """Measure requests in a child process, where every AWS request gets an immediate response."""
    costs: list[Cost] = json.loads(run("-m", "benchmarks.abuse_cost_process").splitlines()[-1])
    endpoints = dict.fromkeys(cost["endpoint"] for cost in costs)
    rows = [
        row
        for endpoint in endpoints
        for row in _rows(endpoint, [cost for cost in costs if cost["endpoint"] == endpoint])
    ]
    return Section(
        "Cost of rejected requests",
        [
            f"The most expensive known valid request of each endpoint that accepts a body, and"
            f" {len(costs)} attempts to exceed it. CPU time and additional memory of one warm"
            f" request in process, with immediate responses from AWS. Limits: {MAX_CPU_RATIO}"
            f" times the CPU time and {MAX_MEMORY_RATIO} times the memory of the valid request. The"
            " other lists accept the same body as the list of customers.",
            Table(("request", "status", "CPU, ms", "memory, MB"), rows),
        ],
    )


def _rows(endpoint: str, costs: list[Cost]) -> list[tuple[str, ...]]:
    valid, rejected = (
        [cost for cost in costs if str(cost["name"]).startswith("valid") is is_valid]
        for is_valid in (True, False)
    )
    most_expensive: dict[str, Cost] = {}
    for measure in ("cpu_ms", "peak_mb"):
        allowed, other = (max(group, key=itemgetter(measure)) for group in (valid, rejected))
        most_expensive |= {allowed["name"]: allowed, other["name"]: other}
    return [
        (
            f"{endpoint}, {cost['name']}",
            str(cost["status"]),
            f"{cost['cpu_ms']:.0f}",
            f"{cost['peak_mb']:.1f}",
        )
        for cost in most_expensive.values()
    ]
