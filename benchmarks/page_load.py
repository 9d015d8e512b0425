"""Measure how fast a browser on a slow network displays the page of a contact form."""

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Final

from chalice.test import Client
from playwright.sync_api import Browser

from app import app
from benchmarks.memory_cloud import MemoryCloud, connect
from benchmarks.report import Section, Table
from benchmarks.sample_account import with_contact_form
from chalicelib.web.pages.assets import SCRIPTS, STYLE_SHEET, asset_text
from tests.chromium.browser import open_page
from tests.local_server import Response, serving

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
_IS_PAINTED: Final = "performance.getEntriesByName('first-contentful-paint').length > 0"
_TIMES: Final = """() => {
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    const [visit] = performance.getEntriesByType('navigation');
    return [paint.startTime, Math.max(paint.startTime, visit.domContentLoadedEventEnd)];
}"""


def measure() -> Section:
    """Measure the page and a hand-written page."""
    connect(MemoryCloud().exchange)
    _, form_id = with_contact_form()
    with serving(_respond) as port, open_page(_WITHOUT_IMAGES) as page:
        browser, address = page.context.browser, f"http://127.0.0.1:{port}"
        assert browser
        form = f"{address}/public/contact-form/page?id={form_id}"
        rows = [
            ("page, first visit", *_visits(browser, form)),
            ("page, later visit", *_visits(browser, form, is_first=False)),
            ("hand-written page", *_visits(browser, address + _HAND_WRITTEN)),
        ]
    sizes = ", ".join(
        f"{name} {len(gzip.compress(asset_text(name).encode())):,}"
        for name in (*SCRIPTS, STYLE_SHEET)
    )
    return Section(
        "Speed of a page",
        [
            "The contact form of the demo in Chromium with the network profile Slow 4G and a CPU"
            " that is four times slower, with the app in process; medians. The hand-written page"
            " has the same fields, no style sheet and no script. A later visit has the script in"
            " the browser's cache. Interactive means painted and with the script loaded. The bytes"
            " include headers. Responses are compressed, as by the gateway on AWS.",
            Table(
                {"response": "", "requests": ".0f", "bytes": ",.0f"}
                | {"first paint, ms": ",.0f", "interactive, ms": ",.0f"},
                rows,
            ),
            f"Compressed sizes in bytes: {sizes}.",
        ],
    )


def _respond(method: str, path: str, headers: Mapping[str, str], _body: bytes) -> Response:
    """Return the response of the app, compressed as API Gateway does."""
    if path == _HAND_WRITTEN:
        status, sent, body = 200, {"Content-Type": "text/html"}, _STATIC_FORM.read_bytes()
    else:
        with Client(app) as client:
            response = client.http.request(method, path, dict(headers))
        status, sent, body = response.status_code, dict(response.headers), response.body
    if len(body) >= _MIN_COMPRESSED_BYTES:
        return status, sent | {"Content-Encoding": "gzip"}, gzip.compress(body)
    return status, sent, body


def _visits(browser: Browser, url: str, *, is_first: bool = True) -> Iterator[float]:
    """Visit the page several times, each time with an empty cache or with a filled cache.

    Yield the medians of the requests, the bytes, and the times until the first contentful paint,
    and until the page is painted and its script has run.
    """
    visits = [_visit(browser, url, is_first=is_first) for _ in range(ROUNDS)]
    return map(median, zip(*visits, strict=True))


def _visit(browser: Browser, url: str, *, is_first: bool) -> tuple[float, ...]:
    received: list[int] = []
    with browser.new_context() as context:
        context.set_default_timeout(_TIMEOUT_MS)
        if not is_first:
            context.new_page().goto(url)
        page = context.new_page()
        devtools = context.new_cdp_session(page)
        devtools.send("Network.enable")
        devtools.send("Network.emulateNetworkConditions", _SLOW_4G)
        devtools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
        devtools.on(
            "Network.loadingFinished", lambda event: received.append(event["encodedDataLength"])
        )
        page.goto(url, wait_until="networkidle")
        page.wait_for_function(_IS_PAINTED)
        times = page.evaluate(_TIMES)
    transferred = [int(size) for size in received if size]
    return len(transferred), sum(transferred), *times
