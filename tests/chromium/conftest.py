"""Fixtures of tests that open the pages of the app in Chromium. The app runs in this process."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

import pytest
from chalice.test import Client
from playwright.sync_api import Browser

from tests.chromium.browser import open_page
from tests.chromium.pages import Pages, create_pages
from tests.web.conftest import client, docs

__all__ = ["client", "docs"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium."""
    with open_page() as page:
        browser = page.context.browser
        assert browser
        yield browser


@pytest.fixture(scope="module")
def base_url(client: Client) -> Iterator[str]:
    """Serve the app on a local port. Return the address."""
    lock = Lock()  # the simulated tables are not safe for concurrent threads

    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with lock:
                response = client.http.request(self.command, self.path, dict(self.headers), body)
            self.send_response(response.status_code)
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(response.body)

        do_GET = do_POST = do_OPTIONS = respond  # noqa: N815 - names of the base class

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def pages(base_url: str, tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """Create the forms of these tests."""
    return create_pages(base_url, tmp_path_factory.mktemp("pages"))
