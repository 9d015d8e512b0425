"""Answers that may be kept and asked after: `ETag`, `Cache-Control`, `If-None-Match` (RFC 9110)."""

import hashlib

from chalice import Response
from chalice.app import Request


def entity_tag(body: str) -> str:
    """The tag of a body. Weak, since the gateway may compress what it sends."""
    return f'W/"{hashlib.sha256(body.encode()).hexdigest()[:32]}"'


def cacheable(
    request: Request,
    body: str,
    media_type: str,
    *,
    max_age_s: int,
    headers: dict[str, str | list[str]] | None = None,
) -> Response:
    """The body, or 304 when the caller has it already. Anybody may keep it for a while."""
    tag = entity_tag(body)
    kept = {"ETag": tag, "Cache-Control": f"public, max-age={max_age_s}", **(headers or {})}
    if _has(request.headers.get("if-none-match", ""), tag):
        return Response(body="", status_code=304, headers=kept)
    return Response(body=body, status_code=200, headers={"Content-Type": media_type, **kept})


def _has(condition: str, tag: str) -> bool:
    if condition.strip() == "*":
        return True
    known = (candidate.strip().removeprefix("W/") for candidate in condition.split(","))
    return tag.removeprefix("W/") in known
