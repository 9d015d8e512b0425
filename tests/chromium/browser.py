"""Run a headless Chromium, and serve web pages on an origin that differs from the gateway's."""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.sync_api import Page, sync_playwright

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
def open_page() -> Iterator[Page]:
    """Start a new browser with an empty page and yield the page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--no-proxy-server"]
        )
        try:
            yield browser.new_page()
        finally:
            browser.close()


@contextmanager
def serve(html: str) -> Iterator[str]:
    """Serve an HTML page on a new origin and yield the URL of the page."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = html.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
