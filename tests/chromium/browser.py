"""Run a headless Chromium, and serve web pages on an origin that differs from the gateway's."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, Page, Route, sync_playwright

from chalicelib.web.pages.assets import asset_text
from tests.local_server import serving

NewContext = Callable[..., BrowserContext]
"""Create a browser context with the options of `Browser.new_context`."""

PAGE = "http://pages.test/public/survey/page"
"""The URL of the page that `route_page` serves."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """Return the path of Chromium. Install it if it is missing (Debian, as root)."""
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "chromium"]):
        subprocess.run(command, check=True, capture_output=True)
    path = shutil.which("chromium")
    assert path, "Chromium could not be installed"
    return path


@contextmanager
def open_page(*options: str) -> Iterator[Page]:
    """Start a new browser, with these options, with an empty page. Yield the page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--no-proxy-server", *options]
        )
        try:
            yield browser.new_page()
        finally:
            browser.close()


@contextmanager
def serve(html: str) -> Iterator[str]:
    """Serve an HTML page on a new origin and yield the URL of the page."""
    headers = {"Content-Type": "text/html; charset=utf-8"}
    with serving(lambda *_: (200, headers, html.encode())) as port:
        yield f"http://localhost:{port}/"


def route_page(context: BrowserContext, html: str) -> None:
    """Serve a page at `PAGE`, and the script of pages."""

    def respond(route: Route) -> None:
        is_script = route.request.url.endswith("page.js")
        kind = "text/javascript" if is_script else "text/html; charset=utf-8"
        route.fulfill(body=asset_text("page.js") if is_script else html, content_type=kind)

    context.route("http://pages.test/**", respond)
