"""Render HTML pages and build their security headers.

Jinja is imported when a template is first rendered, because routes that serve a generated page need
only the headers.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chalicelib.web.problems import Headers

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES: Final = Path(__file__).with_name("templates")
COMPILED: Final = Path(__file__).with_name("compiled_templates")
_STYLE: Final = re.compile(r"<style>([^<]*+)</style>")


@cache
def environment() -> "Environment":
    """Return the Jinja environment that loads templates from `templates/` and escapes HTML.

    The deployed package contains the same templates as Python modules.
    """
    from jinja2 import ChoiceLoader, Environment, FileSystemLoader, ModuleLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([ModuleLoader(COMPILED), FileSystemLoader(TEMPLATES)]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )


def security_headers(html: str, sources: Mapping[str, str] = {}) -> Headers:
    """Return the security headers of an HTML page.

    The Content-Security-Policy allows the inline `<style>` elements of the page, the scripts of the
    service, and these sources.
    """
    policy = {
        "default-src": "'none'",
        "style-src": " ".join(map(_source, _STYLE.findall(html))) or "'none'",
        "script-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        **sources,
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Referrer-Policy": "no-referrer",
    }


def _source(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest())
    return f"'sha256-{digest.decode()}'"
