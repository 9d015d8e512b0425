"""Compare the most expensive known rejected requests with the most expensive valid ones."""

import json
from operator import itemgetter
from typing import Any, Final

from benchmarks.processes import run
from benchmarks.report import Section, Table

MAX_CPU_RATIO: Final = 5
MAX_MEMORY_RATIO: Final = 2
_LIMITS: Final = {"cpu_ms": MAX_CPU_RATIO, "peak_mb": MAX_MEMORY_RATIO}

Cost = dict[str, Any]


def measure() -> Section:
    """Measure requests in a child process, where every AWS request gets an immediate response."""
    costs: list[Cost] = json.loads(run("-m", "benchmarks.abuse_cost_process").splitlines()[-1])
    endpoints = dict.fromkeys(cost["endpoint"] for cost in costs)
    by_endpoint = {
        endpoint: [cost for cost in costs if cost["endpoint"] == endpoint] for endpoint in endpoints
    }
    rows = [row for endpoint, group in by_endpoint.items() for row in _rows(endpoint, group)]
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
        [failure for group in by_endpoint.values() for failure in exceeded_limits(group)],
    )


def exceeded_limits(costs: list[Cost]) -> list[str]:
    """Describe each rejected request that costs too much, for one endpoint.

    The limits are multiples of the most expensive valid request of the endpoint.
    """
    valid, rejected = _by_validity(costs)
    return [
        f"{cost['endpoint']}, {cost['name']}: {measure} {cost[measure]:.1f}, at most {limit:.1f}"
        for measure, ratio in _LIMITS.items()
        for limit in [ratio * max(cost[measure] for cost in valid)]
        for cost in rejected
        if cost[measure] > limit
    ]


def _by_validity(costs: list[Cost]) -> tuple[list[Cost], list[Cost]]:
    """Return the valid and the rejected requests."""
    valid = [cost for cost in costs if str(cost["name"]).startswith("valid")]
    return valid, [cost for cost in costs if cost not in valid]


def _rows(endpoint: str, costs: list[Cost]) -> list[tuple[str, ...]]:
    valid, rejected = _by_validity(costs)
    most_expensive: dict[str, Cost] = {}
    for measure in _LIMITS:
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
