"""Measure how fast a browser on a slow network displays the page of a contact form."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median
from threading import Thread
from typing import Final
from urllib.error import HTTPError
from urllib.request import urlopen

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from admin.services.accounts.manage import create_account
from admin.services.forms.save import save_contact_form
from benchmarks import sample_account
from benchmarks.own_cloud import deploy_app, own_cloud
from benchmarks.report import Section, Table
from benchmarks.static_page import deploy_static_page
from tests.e2e.browser import chromium

ROUNDS: Final = 7
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
    return [paint.startTime, visit.domContentLoadedEventEnd, visit.responseStart];
}"""


@dataclass
class Visits:
    """The measurements of several visits to one page.

    Attributes:
        first_byte_ms, paint_ms, interactive_ms: the times from the start of the navigation to the
            first byte, to the first contentful paint, and to the end of `DOMContentLoaded`, when
            the script has run.
    """

    requests: int = 0
    received_bytes: int = 0
    first_byte_ms: list[float] = field(default_factory=list)
    paint_ms: list[float] = field(default_factory=list)
    interactive_ms: list[float] = field(default_factory=list)

    def cells(self) -> tuple[float, ...]:
        """Return the cells of the report."""
        times = map(median, (self.first_byte_ms, self.paint_ms, self.interactive_ms))
        return self.requests, self.received_bytes, *times


def measure() -> Section:
    """Measure the page, a hand-written page and the JSON view on a local cloud."""
    with own_cloud() as cloud, _browser() as browser, _compressing(cloud.endpoint) as gateway:
        base_url = deploy_app(cloud).replace(cloud.endpoint, gateway)
        _load_form()
        page = f"{base_url}/public/contact-form/page?id={sample_account.CONTACT_FORM_ID}"
        static = deploy_static_page(cloud.port).replace(cloud.endpoint, gateway)
        view = f"{base_url}/public/contact-form?id={sample_account.CONTACT_FORM_ID}"
        rows = [
            ("page, first visit", _visits(browser, page)),
            ("page, later visit", _visits(browser, page, is_first=False)),
            ("hand-written page", _visits(browser, static)),
            ("JSON view", _visits(browser, view)),
        ]
    return _section(rows)


@contextmanager
def _compressing(endpoint: str) -> Iterator[str]:
    """Compress responses as API Gateway does, which the local gateway does not. Yield a base URL.

    Args:
        endpoint: the base URL of the local gateway.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            try:
                with urlopen(endpoint + self.path) as response:  # noqa: S310 - the local gateway
                    body, headers = response.read(), response.headers
            except HTTPError as error:  # There is no icon of the site.
                self.send_error(error.code)
                return
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


def _load_form() -> None:
    """Save the contact form of the demo, its brands and its stores."""
    account = create_account("Demo")
    sample_account.save_places(account.id)
    save_contact_form(account.id, sample_account.contact_form())


def _visits(browser: Browser, url: str, *, is_first: bool = True) -> Visits:
    """Visit the page several times, each time with an empty cache or with a filled cache."""
    visits = Visits()
    _visit(browser, url, Visits(), is_first=True)  # starts the function
    for _ in range(ROUNDS):
        _visit(browser, url, visits, is_first=is_first)
    return visits


def _visit(browser: Browser, url: str, visits: Visits, *, is_first: bool) -> None:
    with browser.new_context() as context:
        context.set_default_timeout(_TIMEOUT_MS)
        if not is_first:
            context.new_page().goto(url)
        page = context.new_page()
        received = _throttle(context, page)
        page.goto(url, wait_until="networkidle")
        first_byte, interactive, paint = _times(page)
    visits.first_byte_ms.append(first_byte)
    visits.interactive_ms.append(interactive)
    visits.paint_ms.append(paint)
    visits.requests = len(received)
    visits.received_bytes = sum(received)


def _times(page: Page) -> tuple[float, float, float]:
    page.wait_for_function(_IS_PAINTED)
    paint, interactive, first_byte = page.evaluate(_TIMES)
    return first_byte, max(paint, interactive), paint


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


def _section(rows: list[tuple[str, Visits]]) -> Section:
    return Section(
        "Speed of a page",
        [
            "The contact form of the demo in Chromium with the network profile Slow 4G and a CPU"
            " that is four times slower, on a local cloud; medians. The hand-written page has the"
            " same fields, no style sheet and no script, and comes from the same gateway. A"
            " later visit has the script in the browser's cache. Interactive"
            " means painted and with the script loaded. The bytes include headers. Responses are"
            " compressed, as by the gateway on AWS.",
            Table(
                {"response": "", "requests": "", "bytes": ",", "first byte, ms": ",.0f"}
                | {"first paint, ms": ",.0f", "interactive, ms": ",.0f"},
                [(name, *visits.cells()) for name, visits in rows],
            ),
        ],
    )
