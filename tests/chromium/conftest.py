"""Fixtures of tests that open the pages of the app in Chromium. The app runs in this process."""

from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any

import pytest
from chalice.test import Client
from playwright.sync_api import Browser, BrowserContext

from tests.chromium.browser import NewContext, open_page
from tests.chromium.pages import Pages, create_pages
from tests.local_server import Response, serving
from tests.web.conftest import client, docs

__all__ = ["client", "docs"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium."""
    with open_page() as page:
        browser = page.context.browser
        assert browser
        yield browser


@pytest.fixture
def new_context(browser: Browser) -> Iterator[NewContext]:
    """Return a function that creates a browser context. Its pages report problems to the test."""
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def create(**options: Any) -> BrowserContext:
        context = browser.new_context(locale="en-US", **options)
        context.set_default_timeout(20_000)
        context.on("weberror", lambda error: problems.append(str(error.error)))
        context.on(
            "console",
            lambda message: (
                problems.append(message.text) if "Content Security" in message.text else None
            ),
        )
        contexts.append(context)
        return context

    yield create
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture(scope="module")
def base_url(client: Client) -> Iterator[str]:
    """Serve the app on a local port. Return the address."""
    lock = Lock()  # the simulated tables are not safe for concurrent threads

    def respond(method: str, path: str, headers: Mapping[str, str], body: bytes) -> Response:
        with lock:
            response = client.http.request(method, path, dict(headers), body)
        return response.status_code, response.headers, response.body

    with serving(respond) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def pages(base_url: str, tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """Create the forms of these tests."""
    return create_pages(base_url, tmp_path_factory.mktemp("pages"))
