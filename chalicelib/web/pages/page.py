"""Render HTML pages and build their security headers.

Jinja is imported when a template is first rendered, because routes that serve a generated page need
only the headers.
"""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES: Final = Path(__file__).with_name("templates")
COMPILED: Final = Path(__file__).with_name("compiled_templates")
_STYLE: Final = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_NONE: Final = " 'none'"


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


def security_headers(html: str) -> dict[str, str | list[str]]:
    """Return the security headers of an HTML page without forms.

    The Content-Security-Policy allows the inline `<style>` elements of the page, the scripts of the
    service, and nothing else.
    """
    return {
        "Content-Security-Policy": f"default-src 'none'; style-src{style_sources(html) or _NONE};"
        " script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
    }


def style_sources(html: str) -> str:
    """Return the hashes of all inline `<style>` elements for the policy, each after a space."""
    return "".join(f" 'sha256-{_digest(style)}'" for style in _STYLE.findall(html))


def _digest(style: str) -> str:
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
