"""Tests of the limits of the cost of rejected requests."""

from benchmarks.abuse_cost import Cost, exceeded_limits


def cost(name: str, cpu_ms: float, peak_mb: float) -> Cost:
    return {"endpoint": "/x", "name": name, "status": 400, "cpu_ms": cpu_ms, "peak_mb": peak_mb}


VALID = [cost("valid: small", 10, 1), cost("valid: large", 2, 20)]


def test_requests_at_limits_are_accepted() -> None:
    assert exceeded_limits([*VALID, cost("rows", 50, 40)]) == []


def test_requests_over_limits_are_reported() -> None:
    costs = [*VALID, cost("rows", 50.1, 40), cost("arrays", 50, 40.1)]
    assert exceeded_limits(costs) == [
        "/x, rows: cpu_ms 50.1, at most 50.0",
        "/x, arrays: peak_mb 40.1, at most 40.0",
    ]
