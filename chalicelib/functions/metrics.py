"""Metrics of the functions, carried in their log lines."""

from functools import cache
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import (
    AmazonCloudWatchEMFProvider,
)

from chalicelib.log import embedded_metrics, namespace


def metric_fields(work: str, **counts: int) -> dict[str, Any]:
    """Log keys that count things of one kind of work: ``measured("import", parked=1)``."""
    return {**counts, "work": work, "_aws": embedded_metrics(_description(tuple(counts)))}


@cache
def _description(names: tuple[str, ...]) -> list[dict[str, Any]]:
    metrics = AmazonCloudWatchEMFProvider(namespace=namespace(), service="feedback")
    metrics.add_dimension("work", "any")
    for name in names:
        metrics.add_metric(name, MetricUnit.Count, 0)
    description: Any = metrics.serialize_metric_set()["_aws"]["CloudWatchMetrics"]
    return list(description)
