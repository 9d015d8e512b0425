"""Publish metrics in log lines. CloudWatch extracts them (CloudWatch embedded metric format)."""

import time
from functools import cache
from typing import Any, Final

from chalicelib.settings import settings

_UNITS: Final = {"duration": "Milliseconds", "oldest": "Seconds"}
"""Units by metric name. The unit of all other metrics is ``Count``."""


def metric_fields(dimension: str, value: str, /, **metrics: float) -> dict[str, Any]:
    """Return the log fields that publish metrics: ``metric_fields("work", "import", parked=1)``.

    Args:
        dimension: the name of the first dimension. The second dimension is ``service``; the logger
            adds it to every line.
        value: the value of the first dimension.
        metrics: the values of the metrics by name.
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
