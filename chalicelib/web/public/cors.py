"""Answers that pages of any origin may read (CORS), and the question that browsers ask beforehand.

The function answers that question itself. A gateway can do it too, but then only the gateway's own
configuration, which no test in process sees, would say whether a browser can submit a form.
"""

from typing import Final

from chalice import Blueprint, Response

from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER

_ASKED_AGAIN_AFTER_S: Final = 86_400

_READABLE: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Retry-After",
}
_ALLOWED_HEADERS: Final = ("Content-Type", IDEMPOTENCY_HEADER, "If-None-Match")


def open_to_any_origin(response: Response) -> Response:
    """The answer, so that a page of any origin may read it."""
    response.headers.update(_READABLE)
    return response


def answer_preflight(routes: Blueprint, path: str, method: str) -> None:
    """Adds a route that tells browsers that any origin may ask this path by this method."""

    def preflight() -> Response:
        headers: dict[str, str | list[str]] = {
            "Access-Control-Allow-Methods": f"{method}, OPTIONS",
            "Access-Control-Allow-Headers": ", ".join(_ALLOWED_HEADERS),
            "Access-Control-Max-Age": str(_ASKED_AGAIN_AFTER_S),
        }
        return open_to_any_origin(Response("", status_code=204, headers=headers))

    routes.route(path, methods=["OPTIONS"], content_types=[])(preflight)
