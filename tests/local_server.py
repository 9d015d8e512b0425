"""Serve HTTP on a local port."""

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

Response = tuple[int, Mapping[str, str], bytes]
"""The status, the headers and the body of a response. The server adds the content length."""
Respond = Callable[[str, str, Mapping[str, str], bytes], Response]
"""Returns the response to the method, the path, the headers and the body of a request."""


@contextmanager
def serving(respond: Respond, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Respond to requests in threads, for the time of a ``with`` block. Yield the port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, headers, content = respond(self.command, self.path, dict(self.headers), body)
            self.send_response_only(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_OPTIONS = _respond  # noqa: N815 - names of the base class

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
