"""Check the media type and the encoding that a request declares for its body."""

import re
from typing import Final

from chalice.app import Request

from chalicelib.web.problems import UnsupportedMediaType

_PARAMETER: Final = re.compile(r';\s*([^\s=;]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)')
_UTF_8: Final = ("utf-8", "utf8")


def require_media_type(request: Request, expected: str) -> None:
    """Check that the declared media type is ``expected`` and that a declared charset is UTF-8.

    Raises:
        UnsupportedMediaType: the media type or the charset is not supported.
    """
    declared = request.headers.get("content-type", "")
    if declared.partition(";")[0].strip().lower() != expected:
        raise UnsupportedMediaType(f"The media type must be {expected}.")
    for name, value in _PARAMETER.findall(declared):
        if name.lower() == "charset" and value.strip('" \t').lower() not in _UTF_8:
            raise UnsupportedMediaType("The charset must be UTF-8.")


def reject_content_encoding(request: Request) -> None:
    """Check that the body is not compressed or encoded in another way.

    Raises:
        UnsupportedMediaType: the request has the header `Content-Encoding`.
    """
    if request.headers.get("content-encoding"):
        raise UnsupportedMediaType("The body must be sent without Content-Encoding.")
