"""Send one webhook request and read its response within time and size limits.

This module does not depend on workflows or retries. It uses http.client of the standard library
instead of urllib3: time-outs of urllib3 apply to each read, so a slow receiver could extend an
attempt without limit. Here, one deadline covers the complete attempt.
"""

import io
import socket
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Final

from chalicelib.domain.webhooks.headers import InvalidHeader, validate_headers
from chalicelib.domain.webhooks.url import InvalidWebhookUrl, WebhookUrl, parse_webhook_url
from chalicelib.outbound.webhook_http.connection import (
    INTERNET,
    AttemptFailed,
    Network,
    WebhookFailure,
    connect,
    error_detail,
    remaining_s,
)

EXCERPT_CHARACTERS: Final = 1024
BODY_LIMIT_BYTES: Final = 16 * 1024
"""Size limit of the response body. It applies to the encoded and to the decoded body."""

_RESPONSE_LIMIT_BYTES: Final = 128 * 1024
"""Size limit of the complete response: status lines, headers, framing and body. http.client has no
such limit.
"""

_MAX_RETRY_AFTER_CHARACTERS: Final = 100


@dataclass
class WebhookResponse:
    """The result of one attempt: a response status, or the reason why there is none.

    `post` sets the attributes one after the other, so a failed attempt has a partial result.

    Attributes:
        was_sent: whether any byte of the request may have reached the receiver.
        status: the response status, or None if none was received.
        error: the reason why there is no status, or None if there is one.
        detail: a short description of the failure, in addition to ``error``.
        excerpt: the first 1,024 characters of the response body that were received and decoded.
        retry_after: the unparsed ``Retry-After`` header of the response, or None.
    """

    duration_ms: int = 0
    was_sent: bool = False
    status: int | None = None
    error: WebhookFailure | None = None
    detail: str = ""
    excerpt: str = ""
    retry_after: str | None = None

    @property
    def is_success(self) -> bool:
        """Whether the status is from 200 to 299. The response body does not matter."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_ambiguous(self) -> bool:
        """Whether the receiver may have processed the request although no status was received."""
        return self.was_sent and self.status is None


def post(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    allow_private: bool,
    network: Network = INTERNET,
) -> WebhookResponse:
    """Send one POST request without retries and return its result.

    Network errors are part of the result; they are not raised. Redirects are not followed. Proxy
    settings of the environment are ignored.

    Args:
        headers: all headers except those that this module sets: ``Host``, ``Accept-Encoding``,
            ``Connection`` and ``Content-Length``.
        allow_private: whether plain http and addresses that are not public are allowed.
    """
    started = time.monotonic()
    deadline, result = started + network.attempt_s, WebhookResponse()
    try:
        target = _validate(url, headers, allow_private)
        with closing(connect(network, target, deadline, allow_private=allow_private)) as connection:
            request = _encode(target, headers, body)
            result.was_sent = True
            _send(connection, request, deadline)
            _receive(_ResponseStream(connection, deadline), network.body_s, result)
    except AttemptFailed as failed:
        result.error, result.detail = failed.failure, failed.detail
    result.duration_ms = round((time.monotonic() - started) * 1000)
    return result


def _validate(url: str, headers: Mapping[str, str], allow_private: bool) -> WebhookUrl:
    try:
        validate_headers(headers)
        return parse_webhook_url(url, allow_private=allow_private)
    except (InvalidWebhookUrl, InvalidHeader) as error:
        raise AttemptFailed(WebhookFailure.BAD_REQUEST, str(error)) from None


def _encode(url: WebhookUrl, headers: Mapping[str, str], body: bytes) -> bytes:
    """Return the request with exactly these bytes as the body."""
    defaults = {"Host": url.authority, "Accept-Encoding": "identity", "Connection": "close"}
    request = _RecordedRequest(url.host, url.port)
    request.request("POST", url.target, body, {**defaults, **headers})
    return b"".join(request.parts)


def _send(connection: socket.socket, request: bytes, deadline: float) -> None:
    unsent = memoryview(request)
    try:
        while unsent:
            connection.settimeout(remaining_s(deadline))
            unsent = unsent[connection.send(unsent) :]
    except TimeoutError:
        raise AttemptFailed(WebhookFailure.TIMEOUT, "timed out while sending the request") from None
    except OSError:
        # Sending can fail because the receiver responded without reading the complete request.
        return


def _receive(stream: "_ResponseStream", body_s: float, result: WebhookResponse) -> None:
    """Read the response and set the status. If the headers are valid, also set the other values.

    Raises:
        AttemptFailed: no status was received.
    """
    try:
        response = _final_response(stream)
    except _InvalidHeaders as error:
        result.status = error.status
        return
    except TimeoutError:
        raise AttemptFailed(
            WebhookFailure.TIMEOUT, "timed out while waiting for the response"
        ) from None
    except OSError as error:
        raise AttemptFailed(WebhookFailure.CONNECTION_LOST, error_detail(error)) from None
    except HTTPException as error:
        raise AttemptFailed(WebhookFailure.BAD_ANSWER, type(error).__name__) from None
    result.status = response.status
    retry_after = response.getheader("Retry-After")
    result.retry_after = retry_after[:_MAX_RETRY_AFTER_CHARACTERS] if retry_after else None
    # The time limit for the body is short: if Lambda stops the function before the outcome is
    # saved, a successful request is repeated.
    stream.start_body(body_s)
    decoded = _read_body(response)
    result.excerpt = decoded.decode("utf-8", "replace")[:EXCERPT_CHARACTERS]


class _RecordedRequest(HTTPConnection):
    """An http.client connection that records the bytes of a request instead of sending them."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port)
        self.parts: list[bytes] = []

    def send(self, data: bytes) -> None:  # type: ignore[override]
        self.parts.append(data)


@dataclass
class _ResponseStream(io.RawIOBase):
    """A stream of the bytes received on a connection, limited by the deadline and the size limit.

    Attributes:
        remaining_bytes: the number of bytes until the size limit.
        in_body: whether the headers are complete, so that the status is known. If this is true, a
            lost connection, a time-out or an exceeded size limit ends the stream without an
            exception.
        reader: the buffered reader of this stream.
    """

    connection: socket.socket
    deadline: float
    remaining_bytes: int = _RESPONSE_LIMIT_BYTES
    in_body: bool = False
    reader: "_Reader" = field(init=False)

    def __post_init__(self) -> None:
        self.reader = _Reader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, target: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            received = self._receive(target)
        except OSError:
            if self.in_body:
                return 0
            raise
        if not received and not self.in_body:
            raise ConnectionAbortedError("closed without a response")
        return received

    def start_body(self, body_s: float) -> None:
        """Mark the headers as complete. The body is then read for at most ``body_s`` seconds."""
        self.in_body = True
        self.deadline = min(self.deadline, time.monotonic() + body_s)

    def makefile(self, _mode: str) -> "_Reader":
        """Return the reader for ``HTTPResponse``. All responses on a connection share it."""
        return self.reader

    def _receive(self, target: bytearray | memoryview) -> int:
        if self.remaining_bytes <= 0:
            if self.in_body:
                return 0
            raise HTTPException("response too large")
        self.connection.settimeout(remaining_s(self.deadline))
        received = self.connection.recv_into(target, min(len(target), self.remaining_bytes))
        self.remaining_bytes -= received
        return received


class _Reader(io.BufferedReader):
    def readline(self, size: int | None = -1, /) -> bytes:
        """Return a line with each bare CR replaced by a space (RFC 9112, section 2.2).

        The header parser of the standard library treats a bare CR as the end of a line. It would
        parse one header as several headers or as nested messages, and the parsing time would grow
        with the nesting depth.
        """
        line = super().readline(size)
        end = b"\r\n" if line.endswith(b"\r\n") else b""
        return line.removesuffix(end).replace(b"\r", b" ") + end

    def close(self) -> None:
        """Do nothing. `post` closes the connection."""


class _InvalidHeaders(Exception):
    """The final status was received, but its headers are invalid or incomplete."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def _final_response(stream: _ResponseStream) -> HTTPResponse:
    while True:
        response = HTTPResponse(stream, method="POST")  # type: ignore[arg-type]
        try:
            response.begin()
        except (HTTPException, OSError):
            if _has_status_line(response) and _is_final(response.status):
                raise _InvalidHeaders(response.status) from None
            raise
        if _is_final(response.status):
            return response


def _has_status_line(response: HTTPResponse) -> bool:
    # `version` becomes 10 or 11 when a valid HTTP/1 status line is read.
    return response.version in (10, 11)


def _is_final(status: int) -> bool:
    return status >= HTTPStatus.OK or status == HTTPStatus.SWITCHING_PROTOCOLS


def _read_body(response: HTTPResponse) -> bytes:
    """Return the decoded body that arrives before the deadline, up to the size limit."""
    decode = _decoder(response.getheader("Content-Encoding", ""))
    decoded = b""
    length = response.length
    remaining = BODY_LIMIT_BYTES if length is None else min(length, BODY_LIMIT_BYTES)
    try:
        while (
            remaining > 0
            and len(decoded) < BODY_LIMIT_BYTES
            and (chunk := response.read1(remaining))
        ):
            remaining -= len(chunk)
            decoded += decode(chunk, BODY_LIMIT_BYTES - len(decoded))
    except (HTTPException, OSError, ValueError, zlib.error):
        # The status alone decides the outcome; the excerpt contains the bytes read so far.
        pass
    return decoded


def _decoder(encoding: str) -> Callable[[bytes, int], bytes]:
    """Return a function that decodes a chunk of the body and returns at most ``limit`` bytes."""
    match encoding.strip().lower():
        case "" | "identity":
            return lambda chunk, limit: chunk[:limit]
        case "gzip" | "x-gzip" | "deflate":
            return zlib.decompressobj(wbits=zlib.MAX_WBITS | 32).decompress
        case _:
            return lambda _chunk, _limit: b""
