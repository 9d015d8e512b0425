"""CORS headers and preflight responses: every origin may call the public endpoints.

The Lambda function responds to preflight requests, so that in-process tests can check the
responses. Tests could not check the configuration of the gateway.
"""

from typing import Final

from chalice import Blueprint, Response
from chalice.app import Request

from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER

_PUBLIC: Final = "/public/"
_PREFLIGHT_MAX_AGE_S: Final = 86_400

_CORS_HEADERS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Retry-After, X-Request-Id",
}
_ALLOWED_HEADERS: Final = ("Content-Type", IDEMPOTENCY_HEADER, "If-None-Match")


def add_cors_headers(request: Request, response: Response) -> None:
    """Add the headers that allow pages of any origin to read responses of public paths."""
    if request.path.startswith(_PUBLIC):
        response.headers.update(_CORS_HEADERS)


def add_preflight_route(routes: Blueprint, path: str, *methods: str) -> None:
    """Add the OPTIONS route that allows any origin to call this path with these methods."""

    def preflight(**_: str) -> Response:
        headers: dict[str, str | list[str]] = {
            "Access-Control-Allow-Methods": ", ".join((*methods, "OPTIONS")),
            "Access-Control-Allow-Headers": ", ".join(_ALLOWED_HEADERS),
            "Access-Control-Max-Age": str(_PREFLIGHT_MAX_AGE_S),
        }
        return Response("", status_code=204, headers=headers)

    routes.route(path, methods=["OPTIONS"], content_types=[])(preflight)
