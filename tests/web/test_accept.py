"""Tests of the decision between HTML and JSON."""

import pytest

from chalicelib.web.accept import prefers_html

FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
CHROME = FIREFOX.replace("*/*", "image/avif,image/webp,image/apng,*/*")


@pytest.mark.parametrize(
    "accept",
    [FIREFOX, CHROME, "text/html", "TEXT/HTML; q=0.5", "text/html, */*", "text/html,*/*;q=1"],
)
def test_client_that_prefers_html_gets_html(accept: str) -> None:
    assert prefers_html(accept)


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "text/*",
        "application/json",
        "application/json, text/html;q=0.1",
        "application/json, text/html",
        "text/html;q=0.8, application/problem+json",
        "text/html;q=0",
        "text/html;q=0, */*;q=0",
        "text/html;q=x, */*",
        "text/html;q=nan",
        "text/html;q=0.4, */*;q=0.5",
        "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
        "text/html, image/gif, image/jpeg, */*; q=0.2",
        ";;,;q=",
    ],
)
def test_other_client_gets_json(accept: str) -> None:
    assert not prefers_html(accept)
