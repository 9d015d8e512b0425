"""Measure how fast a browser on a slow network displays the page of a contact form."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Final
from urllib.error import HTTPError
from urllib.request import urlopen

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks import sample_account
from benchmarks.own_cloud import deploy_app, own_cloud
from benchmarks.report import Section, Table
from chalicelib.web.pages.assets import SCRIPTS, STYLE_SHEET, asset_text
from tests.chromium.browser import chromium

ROUNDS: Final = 7
_STATIC_FORM: Final = Path(__file__).parent / "static_form.html"
_HAND_WRITTEN: Final = "/hand-written"
_TIMEOUT_MS: Final = 120_000
_MIN_COMPRESSED_BYTES: Final = 1024
"""The setting ``minimum_compression_size`` of the deployed gateway."""
_SLOW_4G: Final = {
    "offline": False,
    "latency": 562.5,
    "downloadThroughput": 1.6 * 1024 * 1024 / 8 * 0.9,
    "uploadThroughput": 750 * 1024 / 8 * 0.9,
}
"""The values of "Slow 4G" in Chromium's developer tools: milliseconds and bytes per second."""
_WITHOUT_IMAGES: Final = "--host-resolver-rules=MAP *.example.com ~NOTFOUND"
_SLOWER_CPU: Final = {"rate": 4}
_IS_PAINTED: Final = "performance.getEntriesByName('first-contentful-paint').length > 0"
_TIMES: Final = """() => {
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    const [visit] = performance.getEntriesByType('navigation');
    return [visit.responseStart, paint.startTime, visit.domContentLoadedEventEnd];
}"""


def measure() -> Section:
    """Measure the page, a hand-written page and the JSON view on a local cloud."""
    with own_cloud() as cloud, _browser() as browser, _compressing(cloud.endpoint) as gateway:
        api = deploy_app().removeprefix(cloud.endpoint)
        _, form_id = sample_account.with_contact_form()
        page = f"{gateway}{api}/public/contact-form/page?id={form_id}"
        view = f"{api}/public/contact-form?id={form_id}"
        rows = [
            ("page, first visit", *_visits(browser, page)),
            ("page, later visit", *_visits(browser, page, is_first=False)),
            ("hand-written page", *_visits(browser, f"{gateway}{_HAND_WRITTEN}{view}")),
            ("JSON view", *_visits(browser, f"{gateway}{view}")),
        ]
    sizes = ", ".join(
        f"{name} {len(gzip.compress(asset_text(name).encode())):,}"
        for name in (*SCRIPTS, STYLE_SHEET)
    )
    return Section(
        "Speed of a page",
        [
            "The contact form of the demo in Chromium with the network profile Slow 4G and a CPU"
            " that is four times slower, on a local cloud; medians. The hand-written page has the"
            " same fields, no style sheet and no script, and replaces the body of a JSON view from"
            " the same gateway. A later visit has the script in the browser's cache. Interactive"
            " means painted and with the script loaded. The bytes include headers. Responses are"
            " compressed, as by the gateway on AWS.",
            Table(
                {"response": "", "requests": ".0f", "bytes": ",.0f", "first byte, ms": ",.0f"}
                | {"first paint, ms": ",.0f", "interactive, ms": ",.0f"},
                rows,
            ),
            f"Compressed sizes in bytes: {sizes}.",
        ],
    )


@contextmanager
def _compressing(endpoint: str) -> Iterator[str]:
    """Compress responses as API Gateway does, which the local gateway does not. Yield a base URL.

    Requests with the prefix `_HAND_WRITTEN` receive the hand-written page instead of the response.

    Args:
        endpoint: the base URL of the local gateway.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.removeprefix(_HAND_WRITTEN)
            try:
                with urlopen(endpoint + path) as response:  # noqa: S310 - the local gateway
                    body, headers = response.read(), response.headers
            except HTTPError as error:  # There is no icon of the site.
                self.send_error(error.code)
                return
            if path != self.path:
                body = _STATIC_FORM.read_bytes()
                headers.replace_header("Content-Type", "text/html")
            self.send_response(200)
            for name in ("Content-Type", "Cache-Control", "Content-Security-Policy"):
                if name in headers:
                    self.send_header(name, headers[name])
            if len(body) >= _MIN_COMPRESSED_BYTES:
                body = gzip.compress(body)
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def _browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(),
            args=["--no-sandbox", "--no-proxy-server", _WITHOUT_IMAGES],
        )
        yield browser
        browser.close()


def _visits(browser: Browser, url: str, *, is_first: bool = True) -> Iterator[float]:
    """Visit the page several times, each time with an empty cache or with a filled cache.

    Yield the medians of the requests, the bytes, and the times until the first byte, the first
    contentful paint, and the end of `DOMContentLoaded`, when the script has run.
    """
    _visit(browser, url, is_first=True)  # starts the function
    visits = [_visit(browser, url, is_first=is_first) for _ in range(ROUNDS)]
    return map(median, zip(*visits, strict=True))


def _visit(browser: Browser, url: str, *, is_first: bool) -> tuple[float, ...]:
    with browser.new_context() as context:
        context.set_default_timeout(_TIMEOUT_MS)
        if not is_first:
            context.new_page().goto(url)
        page = context.new_page()
        received = _throttle(context, page)
        page.goto(url, wait_until="networkidle")
        page.wait_for_function(_IS_PAINTED)
        first_byte, paint, loaded = page.evaluate(_TIMES)
    return len(received), sum(received), first_byte, paint, max(paint, loaded)


def _throttle(context: BrowserContext, page: Page) -> list[int]:
    """Slow down the network and the CPU. Return a list that receives the size of each response."""
    received: list[int] = []
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", _SLOW_4G)
    devtools.send("Emulation.setCPUThrottlingRate", _SLOWER_CPU)
    devtools.on(
        "Network.loadingFinished",
        lambda event: (
            received.append(int(event["encodedDataLength"])) if event["encodedDataLength"] else None
        ),
    )
    return received
