"""Return cacheable responses and evaluate the condition `If-None-Match` (RFC 9110)."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache

from chalice import Response
from chalice.app import Request


@lru_cache(maxsize=256)
def entity_tag(body: str) -> str:
    """Return the entity tag of a body. The tag is weak, as the gateway may compress the body."""
    return f'W/"{hashlib.sha256(body.encode()).hexdigest()[:32]}"'


def cacheable(
    request: Request,
    body: str,
    media_type: str,
    *,
    max_age_s: int,
    headers: Mapping[str, str | list[str]] = {},
) -> Response:
    """Return a cacheable response with the body, or with status 304 if the client has the body."""
    tag = entity_tag(body)
    described: dict[str, str | list[str]] = {
        # Also on 304: without a media type, the gateway adds its default, `application/json`.
        "Content-Type": media_type,
        "ETag": tag,
        "Cache-Control": f"public, max-age={max_age_s}",
        **headers,
    }
    if _matches(request.headers.get("if-none-match", ""), tag):
        return Response(body="", status_code=304, headers=described)
    return Response(body=body, status_code=200, headers=described)


def _matches(condition: str, tag: str) -> bool:
    if condition.strip() == "*":
        return True
    known = (candidate.strip().removeprefix("W/") for candidate in condition.split(","))
    return tag.removeprefix("W/") in known
