"""What is logged and measured: one JSON line a request, without a secret or a body in it."""

import time
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import (
    AmazonCloudWatchEMFProvider,
)
from chalice import Response
from chalice.app import Request

from chalicelib.aws_calls import counted_calls
from chalicelib.log import embedded_metrics, logger, namespace
from chalicelib.web.problems import MEDIA_TYPE, plain_problem

_DETAILS: Final = {
    405: "This path does not take this method.",
    415: "The body is of a media type that this path does not take.",
}


def observe(request: Request, get_response: Callable[[Request], Response]) -> Response:
    """Chalice middleware: answers the framework's own errors as problems, and logs the request."""
    started = time.perf_counter()
    with counted_calls() as calls:
        response = _as_problem(request, get_response(request))
    log_request(
        request,
        status=response.status_code,
        duration_ms=(time.perf_counter() - started) * 1000,
        aws_calls=calls.total(),
    )
    return response


def request_id_of(request: Request) -> str:
    """What names the request in the logs: the gateway's id for it, else the function's."""
    return str(
        request.context.get("requestId") or getattr(request.lambda_context, "aws_request_id", "")
    )


def note_account(account_id: str) -> None:
    """Puts the account into the request's log line, once it is known."""
    logger.append_keys(account_id=account_id)


def log_request(request: Request, status: int, duration_ms: float, aws_calls: int) -> None:
    """Writes the request's one line: a log entry that carries its metrics (EMF) too."""
    logger.info(
        "request",
        request_id=request_id_of(request),
        route=f"{request.method} {request.path}",
        status=status,
        duration=duration_ms,
        awsCalls=aws_calls,
        faults=int(status >= 500),
        _aws=embedded_metrics(_metrics_of_a_request()),
    )
    logger.remove_keys(["account_id"])


@cache
def _metrics_of_a_request() -> Any:
    # Always the same but for the numbers, so it is written once and not for every request.
    metrics = AmazonCloudWatchEMFProvider(namespace=namespace(), service="feedback")
    metrics.add_dimension("route", "any")
    metrics.add_metric("duration", MetricUnit.Milliseconds, 0)
    metrics.add_metric("awsCalls", MetricUnit.Count, 0)
    metrics.add_metric("faults", MetricUnit.Count, 0)
    return metrics.serialize_metric_set()["_aws"]["CloudWatchMetrics"]


def _as_problem(request: Request, response: Response) -> Response:
    if response.status_code < 400 or _media_type(response) == MEDIA_TYPE:
        return response
    status = response.status_code
    detail = _DETAILS.get(status, "Internal server error." if status >= 500 else "")
    kept = {k: v for k, v in response.headers.items() if k.lower() != "content-type"}
    return plain_problem(status, detail, request_id_of(request), kept)


def _media_type(response: Response) -> Any:
    return next((v for k, v in response.headers.items() if k.lower() == "content-type"), None)
