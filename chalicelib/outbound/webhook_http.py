"""One POST of a webhook to an address of somebody else's choosing, held to every bound.

Knows nothing of workflows and retries. Made of the standard library's HTTP and not of urllib3,
whose time-outs are for each read: here one deadline holds for all, however slowly it drips.
"""

import io
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from chalicelib.domain.webhooks.headers import InvalidHeader, validate_headers
from chalicelib.domain.webhooks.public_address import is_public
from chalicelib.domain.webhooks.url import InvalidWebhookUrl, WebhookUrl, parse_webhook_url

Address = IPv4Address | IPv6Address

EXCERPT_CHARACTERS: Final = 1024
READ_LIMIT_BYTES: Final = 16 * 1024
"""At most so much of an answer's body is read, and at most so much comes of decoding it."""

_ANSWER_LIMIT_BYTES: Final = 128 * 1024
"""Of status lines, headers and framing together, which nothing else bounds."""

_LONGEST_RETRY_AFTER: Final = 100


class WebhookFailure(StrEnum):
    """Why there is no status."""

    BAD_REQUEST = "BAD_REQUEST"
    """The URL or a header breaks the rules; nothing was resolved or connected."""
    NO_ADDRESS = "NO_ADDRESS"
    """The name resolves to nothing."""
    FORBIDDEN_ADDRESS = "FORBIDDEN_ADDRESS"
    """The name resolves to an address that is not public; nothing was connected."""
    NO_CONNECTION = "NO_CONNECTION"
    """No address takes a connection."""
    CONNECT_TIMEOUT = "CONNECT_TIMEOUT"
    """The name was not resolved, or no address took a connection, in time."""
    TLS = "TLS"
    """The certificate is not the host's, not trusted, or the receiver does not speak TLS."""
    TIMEOUT = "TIMEOUT"
    """The attempt's time was up before there was a status."""
    CONNECTION_LOST = "CONNECTION_LOST"
    """The receiver closed or reset the connection before there was a status."""
    BAD_ANSWER = "BAD_ANSWER"
    """The answer is not HTTP, or has no end before there is a status."""


@dataclass(frozen=True)
class WebhookResponse:
    """What came of one attempt: a status, or the reason why there is none.

    Attributes:
        detail: of a failure, a few words more than its kind.
        excerpt: the first characters of the answer's body, decoded as far as it arrived.
        retry_after: the answer's ``Retry-After`` header, unread.
        was_sent: whether any byte of the request may have reached the receiver.
    """

    duration_ms: int
    was_sent: bool
    status: int | None = None
    error: WebhookFailure | None = None
    detail: str = ""
    excerpt: str = ""
    retry_after: str | None = None

    @property
    def is_success(self) -> bool:
        """Whether the receiver took it: 200 to 299, judged by status alone."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_ambiguous(self) -> bool:
        """Whether the receiver may have taken it and only its answer is missing."""
        return self.was_sent and self.status is None


def resolve(host: str, port: int) -> list[Address]:
    """Every address of a name, as the system's resolver has them.

    Raises:
        OSError: there is none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(str(entry[4][0])) for entry in found))


@cache
def system_tls() -> ssl.SSLContext:
    """TLS that trusts what the system trusts, and checks names. Made once: that takes a while."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


@dataclass(frozen=True)
class Network:
    """The way out, and the time that it may take; tests put their own in its place.

    Attributes:
        connect_s: for resolving the name and connecting, all addresses together.
        attempt_s: for everything, by the clock on the wall.
        body_s: for the answer's body, once its head is there.
    """

    resolve: Callable[[str, int], Sequence[Address]] = resolve
    tls: Callable[[], ssl.SSLContext] = system_tls
    connect_s: float = 5.0
    attempt_s: float = 10.0
    body_s: float = 1.0


INTERNET: Final = Network()


def post(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    allow_private: bool,
    network: Network = INTERNET,
) -> WebhookResponse:
    """Send one request, once, and answer what came of it. Nothing of the network's is raised.

    Every address of the host is vetted, and the connection goes to a vetted one without resolving
    again. Redirects are not followed, and neither proxies nor cookies of the environment are used.

    Args:
        headers: all but those that say how the message is sent, which are made here.
        allow_private: whether plain http and addresses that are not public will do.
    """
    started = time.monotonic()
    attempt = _Attempt(network, started + network.attempt_s)
    status = error = None
    detail = ""
    try:
        target = _require_fit(url, headers, allow_private)
        with closing(attempt.connect(target, allow_private)) as connection:
            attempt.send(connection, target, headers, body)
            status = attempt.receive(connection)
    except _Failed as failure:
        error, detail = failure.kind, failure.detail
    return WebhookResponse(
        duration_ms=round((time.monotonic() - started) * 1000),
        was_sent=attempt.was_sent,
        status=status,
        error=error,
        detail=detail,
        excerpt=attempt.excerpt,
        retry_after=attempt.retry_after,
    )


class _Failed(Exception):
    def __init__(self, kind: WebhookFailure, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


@dataclass
class _Attempt:
    network: Network
    deadline: float
    was_sent: bool = False
    excerpt: str = ""
    retry_after: str | None = None

    def connect(self, url: WebhookUrl, allow_private: bool) -> socket.socket:
        """A connection to one of the host's addresses, all of which are fit."""
        connect_deadline = min(self.deadline, time.monotonic() + self.network.connect_s)
        addresses = _addresses(self.network, url, connect_deadline)
        forbidden = [address for address in addresses if not is_public(address)]
        if forbidden and not allow_private:
            raise _Failed(WebhookFailure.FORBIDDEN_ADDRESS, f"{forbidden[0]} is not public")
        connection = _connected(addresses, url.port, connect_deadline)
        if url.scheme == "http":
            return connection
        return _secured(connection, self.network.tls(), url.host, self.deadline)

    def send(
        self,
        connection: socket.socket,
        url: WebhookUrl,
        headers: Mapping[str, str],
        body: bytes,
    ) -> None:
        """Send exactly these bytes as the body."""
        own = {"Host": url.authority, "Accept-Encoding": "identity", "Connection": "close"}
        request = _Request(url.host, url.port)
        request.request("POST", url.target, body, {**own, **headers})
        self.was_sent = True
        try:
            _send_all(connection, b"".join(request.parts), self.deadline)
        except TimeoutError:
            raise _Failed(WebhookFailure.TIMEOUT, "while sending") from None
        except OSError:
            # It may have answered before it had read everything.
            return

    def receive(self, connection: socket.socket) -> int:
        """The answer's status; what else is of interest is kept as far as it arrives in time."""
        incoming = _Incoming(connection, self.deadline)
        try:
            response = _final_response(incoming)
        except _HeadersMissing as known:
            return known.status
        except TimeoutError:
            raise _Failed(WebhookFailure.TIMEOUT, "while waiting for the answer") from None
        except OSError as error:
            raise _Failed(WebhookFailure.CONNECTION_LOST, _words(error)) from None
        except HTTPException as error:
            raise _Failed(WebhookFailure.BAD_ANSWER, type(error).__name__) from None
        asked = response.getheader("Retry-After")
        self.retry_after = asked[:_LONGEST_RETRY_AFTER] if asked else None
        # Whoever is stopped before the outcome is written sends again what was taken.
        incoming.end_head(self.network.body_s)
        decoded = _decoded_start(response)
        self.excerpt = decoded.decode("utf-8", "replace")[:EXCERPT_CHARACTERS]
        return response.status


def _require_fit(url: str, headers: Mapping[str, str], allow_private: bool) -> WebhookUrl:
    try:
        validate_headers(headers)
        return parse_webhook_url(url, allow_private=allow_private)
    except (InvalidWebhookUrl, InvalidHeader) as error:
        raise _Failed(WebhookFailure.BAD_REQUEST, str(error)) from None


def _addresses(network: Network, url: WebhookUrl, deadline: float) -> Sequence[Address]:
    if url.address:
        return [url.address]
    found: list[Sequence[Address]] = []
    errors: list[Exception] = []

    def look_up() -> None:
        try:
            found.append(network.resolve(url.host, url.port))
        except (OSError, ValueError) as error:
            errors.append(error)

    # The system's resolver takes no time-out, so it is left behind when time is up.
    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(max(0.0, deadline - time.monotonic()))
    if found and found[0]:
        return found[0]
    if found or errors:
        raise _Failed(WebhookFailure.NO_ADDRESS, f"{url.host} has no address")
    raise _Failed(WebhookFailure.CONNECT_TIMEOUT, f"{url.host} was not resolved in time")


def _connected(addresses: Sequence[Address], port: int, deadline: float) -> socket.socket:
    last: OSError = TimeoutError()
    for position, address in enumerate(addresses):
        # A silent address must not use up the time of the next.
        share_s = (deadline - time.monotonic()) / (len(addresses) - position)
        if share_s <= 0:
            break
        try:
            return socket.create_connection((str(address), port), share_s)
        except OSError as error:
            last = error
    if isinstance(last, TimeoutError):
        raise _Failed(WebhookFailure.CONNECT_TIMEOUT, "no connection in time")
    raise _Failed(WebhookFailure.NO_CONNECTION, _words(last))


def _secured(
    connection: socket.socket, context: ssl.SSLContext, host: str, deadline: float
) -> ssl.SSLSocket:
    try:
        connection.settimeout(_left(deadline))
        return context.wrap_socket(connection, server_hostname=host)
    except TimeoutError:
        connection.close()
        raise _Failed(WebhookFailure.TIMEOUT, "during the TLS handshake") from None
    except (OSError, ValueError) as error:
        connection.close()
        raise _Failed(WebhookFailure.TLS, _words(error)) from None


class _Request(HTTPConnection):
    """A request that is written down and not sent."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port)
        self.parts: list[bytes] = []

    def send(self, data: bytes) -> None:  # type: ignore[override]
        self.parts.append(data)


def _send_all(connection: socket.socket, request: bytes, deadline: float) -> None:
    left = memoryview(request)
    while left:
        connection.settimeout(_left(deadline))
        left = left[connection.send(left) :]


@dataclass
class _Incoming(io.RawIOBase):
    """What arrives on a connection, until the deadline and up to a size.

    Attributes:
        head_is_whole: from then on an end, a time-out or too much is just an end: what matters is
            there already.
    """

    connection: socket.socket
    deadline: float
    left_bytes: int = _ANSWER_LIMIT_BYTES
    head_is_whole: bool = False
    buffer: "_Buffer" = field(init=False)

    def __post_init__(self) -> None:
        self.buffer = _Buffer(self)

    def readable(self) -> bool:
        return True

    def readinto(self, target: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            received = self._receive(target)
        except OSError:
            if self.head_is_whole:
                return 0
            raise
        if not received and not self.head_is_whole:
            raise ConnectionAbortedError("closed without an answer")
        return received

    def end_head(self, body_s: float) -> None:
        """From here on comes the body, for so long at most."""
        self.head_is_whole = True
        self.deadline = min(self.deadline, time.monotonic() + body_s)

    def makefile(self, _mode: str) -> "_Buffer":
        """What ``HTTPResponse`` reads; the same for an interim response and the one after it."""
        return self.buffer

    def _receive(self, target: bytearray | memoryview) -> int:
        if self.left_bytes <= 0:
            if self.head_is_whole:
                return 0
            raise HTTPException("too much")
        self.connection.settimeout(_left(self.deadline))
        received = self.connection.recv_into(target, min(len(target), self.left_bytes))
        self.left_bytes -= received
        return received


class _Buffer(io.BufferedReader):
    def readline(self, size: int | None = -1, /) -> bytes:
        """A line whose bare CRs are spaces (RFC 9112, section 2.2).

        The standard library takes each for the end of a line, and so reads one header as many, or
        as messages within messages, for as long as that takes.
        """
        line = super().readline(size)
        end = b"\r\n" if line.endswith(b"\r\n") else b""
        return line.removesuffix(end).replace(b"\r", b" ") + end

    def close(self) -> None:
        """Nothing: whoever opened the connection closes it."""


class _HeadersMissing(Exception):
    """The final status has come, and what follows it is faulty."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def _final_response(incoming: _Incoming) -> HTTPResponse:
    while True:
        response = HTTPResponse(incoming, method="POST")  # type: ignore[arg-type]
        try:
            response.begin()
        except (HTTPException, OSError):
            if _has_status_line(response) and _is_final(response.status):
                raise _HeadersMissing(response.status) from None
            raise
        if _is_final(response.status):
            return response


def _has_status_line(response: HTTPResponse) -> bool:
    # Until the line is read, and found to be of HTTP/1, this is no number.
    return response.version in (10, 11)


def _is_final(status: int) -> bool:
    return status >= HTTPStatus.OK or status == HTTPStatus.SWITCHING_PROTOCOLS


def _decoded_start(response: HTTPResponse) -> bytes:
    decode = _decoder(response.getheader("Content-Encoding", ""))
    decoded = b""
    left = READ_LIMIT_BYTES if response.length is None else min(response.length, READ_LIMIT_BYTES)
    try:
        while left > 0 and len(decoded) < READ_LIMIT_BYTES and (chunk := response.read1(left)):
            left -= len(chunk)
            decoded += decode(chunk, READ_LIMIT_BYTES - len(decoded))
    except (HTTPException, OSError, ValueError, zlib.error):
        # The status is known, and alone decides; the excerpt has what there is.
        pass
    return decoded


def _decoder(encoding: str) -> Callable[[bytes, int], bytes]:
    """Decodes piece by piece, and never makes more than the given number of bytes of one."""
    match encoding.strip().lower():
        case "" | "identity":
            return lambda chunk, limit: chunk[:limit]
        case "gzip" | "x-gzip" | "deflate":
            return zlib.decompressobj(wbits=zlib.MAX_WBITS | 32).decompress
        case _:
            return lambda _chunk, _limit: b""


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _words(error: Exception) -> str:
    told = getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error)
    return str(told)[:200]
