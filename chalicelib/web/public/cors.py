"""CORS headers and preflight responses: every origin may call the public endpoints.

The Lambda function responds to preflight requests, so that in-process tests can check the
responses. Tests could not check the configuration of the gateway.
"""

from typing import Final

from chalice import Blueprint, Response

from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER

_PREFLIGHT_MAX_AGE_S: Final = 86_400

_CORS_HEADERS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Retry-After",
}
_ALLOWED_HEADERS: Final = ("Content-Type", IDEMPOTENCY_HEADER, "If-None-Match")


def allow_any_origin(response: Response) -> Response:
    """Add the headers that allow pages of any origin to read the response."""
    response.headers.update(_CORS_HEADERS)
    return response


def add_preflight_route(routes: Blueprint, path: str, method: str) -> None:
    """Add the OPTIONS route that allows any origin to call this path with this method."""

    def preflight(**_: str) -> Response:
        headers: dict[str, str | list[str]] = {
            "Access-Control-Allow-Methods": f"{method}, OPTIONS",
            "Access-Control-Allow-Headers": ", ".join(_ALLOWED_HEADERS),
            "Access-Control-Max-Age": str(_PREFLIGHT_MAX_AGE_S),
        }
        return allow_any_origin(Response("", status_code=204, headers=headers))

    routes.route(path, methods=["OPTIONS"], content_types=[])(preflight)
