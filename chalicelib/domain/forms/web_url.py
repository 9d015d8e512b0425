"""Check the URLs in a form: links, images and font files."""

import re
from typing import Final
from urllib.parse import urlsplit

_MAX_LENGTH: Final = 2048
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]{1,5})?")
_FONT_FILES: Final = (".woff2", ".woff", ".ttf", ".otf")


def is_https_url(text: str) -> bool:
    """Return whether the text is an absolute https URL of at most 2,048 characters."""
    if len(text) > _MAX_LENGTH or any(c.isspace() or not c.isprintable() for c in text):
        return False
    try:
        url = urlsplit(text)
        return url.scheme == "https" and bool(url.hostname)
    except ValueError:
        return False


def page_origin(text: str) -> str:
    """Return the origin of an https URL; ``""`` if pages must not or cannot load this URL.

    A Content-Security-Policy can allow only hosts with ASCII letters, digits, ``-`` and ``.``.
    """
    if not is_https_url(text):
        return ""
    host = urlsplit(text).netloc
    return f"https://{host}" if _HOST.fullmatch(host) else ""


def is_font_file_url(text: str) -> bool:
    """Return whether the text is the https URL of a font file that pages can load.

    Pages load only font files. A style sheet of another site could read the respondent's answers.
    """
    return bool(page_origin(text)) and urlsplit(text).path.lower().endswith(_FONT_FILES)
