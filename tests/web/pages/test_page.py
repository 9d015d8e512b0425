"""Tests of HTML pages: escaping of HTML and the Content-Security-Policy header."""

import base64
import hashlib

from chalicelib.web.pages.page import environment, security_headers


def _policy(html: str) -> str:
    return str(security_headers(html)["Content-Security-Policy"])


def test_content_security_policy_allows_each_inline_style_by_hash() -> None:
    styles = ("p { margin: 0 }", "\nb {}\n")
    policy = _policy("".join(f"<style>{style}</style>" for style in styles))
    sources = [
        f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"
        for style in styles
    ]
    assert f"style-src {' '.join(sources)};" in policy


def test_content_security_policy_of_page_without_styles_allows_no_styles() -> None:
    assert _policy("<p>") == (
        "default-src 'none'; style-src 'none'; script-src 'self'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'"
    )


def test_templates_escape_html() -> None:
    assert environment().from_string("{{ text }}").render(text="<b>") == "&lt;b&gt;"
