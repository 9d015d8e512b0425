"""Log one JSON line per request, with its metrics and without secrets or bodies."""

import time
from collections.abc import Callable
from typing import Final

from chalice import Response
from chalice.app import Request

from chalicelib.aws_calls import counted_calls
from chalicelib.domain.errors import FeedbackError
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.time_limits import invocation
from chalicelib.web.cors import add_cors_headers
from chalicelib.web.problems import HTML, MEDIA_TYPE, plain_problem

_REQUEST_FIELDS: Final = ("account_id", "source", "form_id", "feedback_id", "api_key")
"""Fields that only some log lines have.

The source address is logged only for submissions and for requests with rejected credentials.
"""

REQUEST_ID_HEADER: Final = "X-Request-Id"
"""The response header with the id of the request, which the log and problems contain too."""

_DETAILS: Final = {
    405: "This path does not support this method.",
    415: "This path does not support the media type of the body.",
}


def observe(request: Request, get_response: Callable[[Request], Response]) -> Response:
    """Convert the framework's errors to problem responses, and log the request.

    Also add the id of the request, the header that forbids browsers to guess the media type, and
    the CORS headers.
    """
    started = time.perf_counter()
    logger.append_keys(request_id=request_id_of(request))
    with counted_calls() as calls, invocation(request.lambda_context):
        response = _as_problem(request, get_response(request))
    response.headers[REQUEST_ID_HEADER] = request_id_of(request)
    response.headers["X-Content-Type-Options"] = "nosniff"
    add_cors_headers(request, response)
    duration_ms = (time.perf_counter() - started) * 1000
    route = f"{request.method} {request.path}"
    # Only the duration is a metric: CloudWatch bills each metric of each route separately.
    metrics = metric_fields("route", route, duration=duration_ms)
    logger.info("request", status=response.status_code, awsCalls=calls.total(), **metrics)
    logger.remove_keys(["request_id", *_REQUEST_FIELDS])
    return response


def request_id_of(request: Request) -> str:
    """Return the gateway's request id or, if there is none, Lambda's request id."""
    return str(
        request.context.get("requestId") or getattr(request.lambda_context, "aws_request_id", "")
    )


def source_of(request: Request) -> str:
    """Return the client's IP address from the gateway, never from a request header."""
    return str(request.context.get("identity", {}).get("sourceIp") or "")


def log_unless_domain_error(error: Exception) -> FeedbackError | None:
    """Log an unhandled exception and return None. Return a domain error as it is."""
    if isinstance(error, FeedbackError):
        return error
    logger.error("unhandled exception", exc_info=error)
    return None


def _as_problem(request: Request, response: Response) -> Response:
    headers = {**response.headers}
    if response.status_code < 400 or headers.pop("Content-Type", "") in (MEDIA_TYPE, HTML):
        return response
    status = response.status_code
    detail = _DETAILS.get(status, "Internal server error." if status >= 500 else "")
    return plain_problem(status, detail, request_id_of(request), headers)
