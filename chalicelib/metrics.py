"""Metrics in log lines: fields that CloudWatch reads as metrics (embedded metric format)."""

import time
from functools import cache
from typing import Any, Final

from chalicelib.settings import settings

_UNITS: Final = {"duration": "Milliseconds"}
"""Every other metric is a count."""


def metric_fields(dimension: str, value: str, /, **metrics: float) -> dict[str, Any]:
    """Return log fields that record metrics: ``metric_fields("work", "import", parked=1)``.

    The logger adds the second dimension, ``service``, to every line.
    """
    return {
        dimension: value,
        **metrics,
        "_aws": {
            "Timestamp": int(time.time() * 1000),
            "CloudWatchMetrics": _description(dimension, tuple(metrics)),
        },
    }


@cache
def _description(dimension: str, names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {
            "Namespace": f"feedback-{settings().stage}",
            "Dimensions": [[dimension, "service"]],
            "Metrics": [{"Name": name, "Unit": _UNITS.get(name, "Count")} for name in names],
        }
    ]
