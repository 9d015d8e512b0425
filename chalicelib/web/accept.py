"""Decide by the header `Accept` whether a client prefers HTML to JSON (RFC 9110, 12.5.1)."""

import re
from typing import Final

_HTML: Final = "text/html"
_JSON: Final = ("application/json", "application/problem+json", "application/*", "*/*")
"""Media ranges that match a JSON response. The client's quality of the first one counts."""

_WEIGHT: Final = re.compile(r"[01](?:\.[0-9]*)?|\.[0-9]+")

_PROGRAMS: Final = frozenset(
    {
        "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
        "text/html, image/gif, image/jpeg, */*; q=0.2",
    }
)
"""The default headers of Java's `HttpURLConnection`. It is not a browser, although they suggest it.
"""


def prefers_html(accept: str) -> bool:
    """Return whether the header names HTML and prefers it to JSON.

    If the header names both with the same quality, JSON is preferred. A media range such as
    ``*/*`` alone does not select HTML.
    """
    if accept.strip().lower() in _PROGRAMS:
        return False
    qualities = dict(map(_quality, accept.lower().split(",")))
    html = qualities.get(_HTML, 0)
    json, is_named = next(
        ((qualities[name], "*" not in name) for name in _JSON if name in qualities), (0.0, False)
    )
    return html > json or (html == json > 0 and not is_named)


def _quality(media_range: str) -> tuple[str, float]:
    """Return the name and the quality of a media range; an invalid quality is 0."""
    name, *parameters = (part.strip() for part in media_range.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            return name, float(parameter[2:]) if _WEIGHT.fullmatch(parameter[2:]) else 0.0
    return name, 1.0
