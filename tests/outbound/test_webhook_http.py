"""Tests of webhook requests that are sent to faulty receivers over real sockets."""

import gzip
import itertools
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

import pytest

from chalicelib.domain.webhooks.headers import webhook_headers
from chalicelib.domain.webhooks.signature import sign, sign_standard
from chalicelib.outbound.webhook_http.connection import (
    Address,
    Network,
    WebhookFailure,
    system_tls,
)
from chalicelib.outbound.webhook_http.exchange import EXCERPT_CHARACTERS, WebhookResponse, post
from tests.outbound.certificates import client_tls, server_tls
from tests.outbound.receivers import OK, Receiver, receiving, reset, responding_with

BODY = '{"event":"workflow.action.webhook","name":"Zoë"}'.encode()
HEADERS = webhook_headers(
    {"X-Own": "1", "user-agent": "theirs"}, BODY, ["s"], execution_id="e", timestamp=1
)
SHORT = Network(connect_s=0.1, attempt_s=0.2)
TOLERANCE_MS = 3000


def send(
    receiver: Receiver,
    *,
    network: Network | None = None,
    body: bytes = BODY,
    host: str = "127.0.0.1",
    scheme: str = "http",
) -> WebhookResponse:
    url = f"{scheme}://{host}:{receiver.port}/hook?a=b"
    return post(url, HEADERS, body, allow_private=True, network=network or Network())


def send_over_tls(receiver: Receiver, **network: Any) -> WebhookResponse:
    """Send a request to the receiver under the name of another host."""
    resolved = replace(network_resolving_to("127.0.0.1"), **network)
    return send(receiver, host="a.example", scheme="https", network=resolved)


def network_resolving_to(*addresses: str) -> Network:
    """Return a network object that resolves every host name to these addresses."""
    resolved = [ip_address(address) for address in addresses]
    return Network(lambda _host, _port: resolved, client_tls, connect_s=0.5, attempt_s=1)


def test_request_is_sent_once_with_unchanged_body() -> None:
    with receiving(responding_with(OK)) as receiver:
        response = send(receiver)
    assert response == WebhookResponse(response.duration_ms, True, 200, excerpt="OK")
    assert response.is_success
    assert receiver.connections == 1
    (request,) = receiver.requests
    head, _, body = request.partition(b"\r\n\r\n")
    assert body == BODY
    line, *lines = head.decode().split("\r\n")
    assert line == "POST /hook?a=b HTTP/1.1"
    assert sorted(lines) == sorted(
        [
            f"Host: 127.0.0.1:{receiver.port}",
            "Accept-Encoding: identity",
            "Connection: close",
            f"Content-Length: {len(BODY)}",
            "X-Own: 1",
            "Content-Type: application/json",
            "User-Agent: Service-Workflow-Webhook",
            "X-Service-Webhook-Timestamp: 1",
            f"X-Service-Webhook-Signature: {sign('s', 1, BODY)}",
            "X-Service-Webhook-Id: e",
            "webhook-id: e",
            "webhook-timestamp: 1",
            f"webhook-signature: {sign_standard(['s'], 'e', 1, BODY)}",
        ]
    )


def test_largest_body_arrives_complete() -> None:
    body = bytes(range(256)) * 800
    with receiving(responding_with(OK)) as receiver:
        assert send(receiver, body=body, network=replace(SHORT, attempt_s=2)).is_success
    assert receiver.requests[0].endswith(b"\r\n\r\n" + body)


@pytest.mark.parametrize(
    "status", [200, 201, 202, 204, 226, 299, 300, 304, 400, 401, 404, 410, 429, 500, 503, 599, 999]
)
def test_only_2xx_status_is_success(status: int) -> None:
    length = "" if status in (204, 304) else "Content-Length: 0\r\n"
    with receiving(responding_with(f"HTTP/1.1 {status} X\r\n{length}\r\n".encode())) as receiver:
        response = send(receiver)
    assert response.status == status
    assert response.error is None
    assert response.is_success is (200 <= status < 300)
    assert not response.is_ambiguous


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(status: int) -> None:
    with receiving(responding_with(OK)) as other_receiver:
        location = f"Location: http://127.0.0.1:{other_receiver.port}/"
        redirect = f"HTTP/1.1 {status} X\r\n{location}\r\nContent-Length: 0\r\n\r\n".encode()
        with receiving(responding_with(redirect)) as receiver:
            response = send(receiver)
    assert response.status == status
    assert not response.is_success
    assert (receiver.connections, other_receiver.connections) == (1, 0)


def test_interim_responses_are_skipped() -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    with receiving(responding_with(interim + OK)) as receiver:
        assert send(receiver).status == 200


@pytest.mark.parametrize(
    "retry_after", ["120", "0", "-1", "soon", "Sun, 01 Mar 2026 12:10:00 GMT", ""]
)
def test_retry_after_header_is_returned_unparsed(retry_after: str) -> None:
    response_head = f"HTTP/1.1 429 X\r\nRetry-After: {retry_after}\r\nContent-Length: 0\r\n\r\n"
    with receiving(responding_with(response_head.encode())) as receiver:
        assert send(receiver).retry_after == (retry_after or None)


def hang_before_reading(receiver: Receiver, _connection: socket.socket) -> None:
    receiver.ended.wait(5)


def hang_after_reading(receiver: Receiver, connection: socket.socket) -> None:
    receiver.read_request(connection)
    receiver.ended.wait(5)


def trickle_status(receiver: Receiver, connection: socket.socket) -> None:
    receiver.read_request(connection)
    receiver.trickle(connection, b"HTTP/1.1 200 " + b"O" * 60_000)


def trickle_interim_headers(receiver: Receiver, connection: socket.socket) -> None:
    receiver.read_request(connection)
    connection.sendall(b"HTTP/1.1 103 Early Hints\r\n")
    receiver.trickle(connection, b"X-Slow: yes\r\n" * 100)


@pytest.mark.parametrize(
    "behave", [hang_before_reading, hang_after_reading, trickle_status, trickle_interim_headers]
)
def test_timeout_before_complete_status_line_is_ambiguous(behave: object) -> None:
    with receiving(behave) as receiver:  # type: ignore[arg-type]
        response = send(receiver, network=SHORT)
    assert response.error is WebhookFailure.TIMEOUT
    assert response.is_ambiguous
    assert 200 <= response.duration_ms < 200 + TOLERANCE_MS


def test_large_request_times_out_if_receiver_does_not_read() -> None:
    with receiving(hang_before_reading) as receiver:
        response = send(receiver, body=b"x" * 20_000_000, network=SHORT)
    assert response.error is WebhookFailure.TIMEOUT
    assert response.is_ambiguous
    assert response.duration_ms < 200 + TOLERANCE_MS


@pytest.mark.parametrize(
    ("framing", "slow", "excerpt"),
    [
        (b"", b"a", {"a"}),
        (b"Content-Length: 60000\r\n", b"a", {"a"}),
        (b"Content-Encoding: gzip\r\n", b"a", set()),
        (b"Transfer-Encoding: chunked\r\n", b"1\r\na\r\n", {"a"}),
    ],
)
def test_slow_response_body_is_cut_off_at_deadline_and_status_is_returned(
    framing: bytes, slow: bytes, excerpt: set[str]
) -> None:
    def behave(receiver: Receiver, connection: socket.socket) -> None:
        receiver.read_request(connection)
        connection.sendall(b"HTTP/1.1 202 Accepted\r\n" + framing + b"\r\n" + slow)
        receiver.trickle(connection, slow * 60_000)

    with receiving(behave) as receiver:
        response = send(receiver, network=SHORT)
    assert response.status == 202
    assert response.is_success
    assert response.duration_ms < 200 + TOLERANCE_MS
    assert set(response.excerpt) == excerpt


@pytest.mark.parametrize("rest", [b"", b"b" * 60_000], ids=["hangs", "trickles"])
def test_sender_waits_one_second_for_incomplete_response_body(rest: bytes) -> None:
    def behave(receiver: Receiver, connection: socket.socket) -> None:
        receiver.read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\nThanks")
        receiver.trickle(connection, rest)
        receiver.ended.wait(5)

    with receiving(behave) as receiver:
        response = send(receiver)
    assert response.is_success
    assert response.excerpt.rstrip("b") == "Thanks"
    assert 1000 <= response.duration_ms < 1000 + TOLERANCE_MS


@pytest.mark.parametrize(
    "start",
    [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
    ],
)
def test_endless_response_body_is_cut_off_before_deadline(start: bytes) -> None:
    sent = 0

    def behave(receiver: Receiver, connection: socket.socket) -> None:
        nonlocal sent
        receiver.read_request(connection)
        connection.sendall(start)
        while not receiver.ended.is_set():
            sent += connection.send(b"a" * 65536)

    with receiving(behave) as receiver:
        response = send(receiver)
    assert response.is_success
    assert response.excerpt == "a" * EXCERPT_CHARACTERS
    assert response.duration_ms < 5000
    assert sent < 20_000_000


@pytest.mark.parametrize(
    "endless_data",
    [
        itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        itertools.chain([b"HTTP/1.1 103 X\r\n"], itertools.repeat(b"X-A: b\r\n" * 1000)),
        itertools.chain([b"HTTP/1.1 200 "], itertools.repeat(b"a" * 65536)),
    ],
    ids=["interim", "interim headers", "status line"],
)
def test_endless_data_before_status_is_reported_as_invalid_response(
    endless_data: "itertools.repeat[bytes]",
) -> None:
    def behave(receiver: Receiver, connection: socket.socket) -> None:
        receiver.read_request(connection)
        for piece in endless_data:
            connection.sendall(piece)
            if receiver.ended.is_set():
                return

    with receiving(behave) as receiver:
        response = send(receiver)
    assert response.error is WebhookFailure.BAD_ANSWER
    assert response.is_ambiguous
    assert response.duration_ms < 5000


@pytest.mark.parametrize("status", [202, 429, 503])
@pytest.mark.parametrize(
    "headers",
    [
        b"",
        b"Content-Length: 0\r\nRetry-Aft",
        b"Retry-After: 120\r\nX-A: b\r\n",
        b"X-A: b\r\n" * 101 + b"\r\nlate",
        b"X-A: " + b"b" * 70_000 + b"\r\n\r\nlate",
    ],
    ids=["no headers", "cut off", "without end", "too many", "too long"],
)
def test_status_is_returned_despite_invalid_response_headers(status: int, headers: bytes) -> None:
    with receiving(responding_with(f"HTTP/1.1 {status} X\r\n".encode() + headers)) as receiver:
        response = send(receiver)
    assert response == WebhookResponse(response.duration_ms, True, status)
    assert receiver.connections == 1


def reset_during_headers(receiver: Receiver, connection: socket.socket) -> None:
    connection.sendall(b"X-A: b\r\n")
    receiver.ended.wait(0.1)
    reset(connection)


def trickle_headers(receiver: Receiver, connection: socket.socket) -> None:
    receiver.trickle(connection, b"X-Slow: yes\r\n" * 100)


def send_endless_headers(receiver: Receiver, connection: socket.socket) -> None:
    while not receiver.ended.is_set():
        connection.sendall(b"X-A: " + b"b" * 9000 + b"\r\n")


@pytest.mark.parametrize("go_on", [reset_during_headers, trickle_headers, send_endless_headers])
def test_status_is_returned_although_headers_do_not_end(
    go_on: Callable[[Receiver, socket.socket], None],
) -> None:
    def behave(receiver: Receiver, connection: socket.socket) -> None:
        receiver.read_request(connection)
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
        go_on(receiver, connection)

    with receiving(behave) as receiver:
        response = send(receiver, network=SHORT)
    assert response == WebhookResponse(response.duration_ms, True, 200)
    assert response.duration_ms < 200 + TOLERANCE_MS


def test_carriage_return_in_header_does_not_start_new_header() -> None:
    response_head = b"HTTP/1.1 503 X\r\nX-A: b\rRetry-After: 60\r\nContent-Length: 0\r\n\r\n"
    with receiving(responding_with(response_head)) as receiver:
        response = send(receiver)
    assert response == WebhookResponse(response.duration_ms, True, 503)


PARTS_WITHIN_PARTS = b"".join(
    b"Content-Type: multipart/mixed; boundary=%d\r\r--%d\r" % (n, n) for n in range(900)
)


@pytest.mark.parametrize("interim", [b"", b"HTTP/1.1 103 X\r\n"])
@pytest.mark.parametrize(
    "header",
    [
        b"X: \r" + b"Content-Type: message/rfc822\r\r" * 2000 + b"\r\n",
        b"X: \r" + PARTS_WITHIN_PARTS + b"\r\nX: " + b"\r" * 50_000 + b"\r\n",
    ],
    ids=["messages", "parts"],
)
def test_mime_message_in_response_header_is_not_parsed(interim: bytes, header: bytes) -> None:
    before = interim and interim + header + b"\r\n"
    after = b"HTTP/1.1 200 OK\r\n" + (b"" if interim else header)
    with receiving(responding_with(before + after + b"\r\nOK")) as receiver:
        response = send(receiver)
    assert response == WebhookResponse(response.duration_ms, True, 200, excerpt="OK")
    assert response.duration_ms < TOLERANCE_MS


@pytest.mark.parametrize(("length", "expected_length"), [(1024, 1024), (1025, 1024)])
def test_response_excerpt_is_cut_at_1024_characters(length: int, expected_length: int) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n".encode()
    with receiving(responding_with(head + b"a" * length)) as receiver:
        assert send(receiver).excerpt == "a" * expected_length


@pytest.mark.parametrize(("length", "expected_length"), [(100, 100), (101, 100)])
def test_retry_after_is_cut_at_100_characters(length: int, expected_length: int) -> None:
    response_head = f"HTTP/1.1 429 X\r\nRetry-After: {'1' * length}\r\nContent-Length: 0\r\n\r\n"
    with receiving(responding_with(response_head.encode())) as receiver:
        assert send(receiver).retry_after == "1" * expected_length


@pytest.mark.parametrize(("extra_bytes", "status"), [(0, 204), (1, None)])
def test_status_after_first_128_kilobytes_of_response_is_rejected(
    extra_bytes: int, status: int | None
) -> None:
    final = b"HTTP/1.1 204 No Content\r\n"
    interim = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    interim_bytes = 128 * 1024 - len(final) + extra_bytes
    # Pad the last interim response so that the interim responses have exactly the requested size.
    copies, padding = divmod(interim_bytes - 2 * len(interim), len(interim))
    padded = interim[:-2] + b"x: " + b"a" * (len(interim) + padding - 5) + b"\r\n\r\n"
    before = interim * copies + padded
    assert len(before + final) == 128 * 1024 + extra_bytes
    with receiving(responding_with(before + final + b"\r\n")) as receiver:
        response = send(receiver)
    assert response.status == status
    assert response.error is (None if status else WebhookFailure.BAD_ANSWER)


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b"a" * 5_000_000, mtime=0)),
        ("x-gzip", gzip.compress(b"a" * 5_000_000, mtime=0)),
        ("deflate", zlib.compress(b"a" * 5_000_000)),
    ],
)
def test_compressed_response_is_decompressed_only_up_to_limit(
    encoding: str, packed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded_bytes = 0
    real = zlib.decompressobj

    class Counting:
        def __init__(self, wbits: int) -> None:
            self.decoder = real(wbits)

        def decompress(self, chunk: bytes, limit: int) -> bytes:
            nonlocal decoded_bytes
            decoded = self.decoder.decompress(chunk, limit)
            decoded_bytes += len(decoded)
            return decoded

    monkeypatch.setattr("chalicelib.outbound.webhook_http.exchange.zlib.decompressobj", Counting)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(packed)}\r\n"
    with receiving(responding_with(head.encode() + b"\r\n" + packed)) as receiver:
        response = send(receiver)
    assert response.is_success
    assert response.excerpt == "a" * EXCERPT_CHARACTERS
    assert 0 < decoded_bytes <= 16 * 1024


@pytest.mark.parametrize(
    ("encoding", "body", "excerpt"),
    [
        ("gzip", gzip.compress("Zoë".encode(), mtime=0), "Zoë"),
        ("deflate", zlib.compress(b"thanks"), "thanks"),
        ("gzip", b"no gzip", ""),
        ("br", b"\x0b\x01\x80abc\x03", ""),
        ("identity", b"\xff\xfe", "��"),
    ],
)
def test_response_body_does_not_change_outcome(encoding: str, body: bytes, excerpt: str) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(body)}\r\n"
    with receiving(responding_with(head.encode() + b"\r\n" + body)) as receiver:
        response = send(receiver)
    assert response.is_success
    assert response.excerpt == excerpt


@pytest.mark.parametrize(
    "response_bytes",
    [
        b"",
        b"HTTP/1.1 2",
        b"HTTP/1.1 200 OK",
        b"HTTP/1.1 100 Continue\r\n",
        b"HTTP/1.1 103 Early Hints\r\n",
    ],
)
def test_connection_closed_before_status_is_reported_as_connection_lost(
    response_bytes: bytes,
) -> None:
    with receiving(responding_with(response_bytes)) as receiver:
        response = send(receiver)
    assert response.error is WebhookFailure.CONNECTION_LOST
    assert response.is_ambiguous
    assert receiver.connections == 1


@pytest.mark.parametrize(
    "invalid_response",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"\x00\x01\x02\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/2.0 200 OK\r\n\r\n",
    ],
)
def test_non_http_response_is_reported_as_invalid_response(invalid_response: bytes) -> None:
    with receiving(responding_with(invalid_response)) as receiver:
        response = send(receiver)
    assert response.error is WebhookFailure.BAD_ANSWER
    assert response.is_ambiguous


def test_reset_after_request_is_reported_as_ambiguous_and_not_retried() -> None:
    def behave(receiver: Receiver, connection: socket.socket) -> None:
        receiver.read_request(connection)
        reset(connection)

    with receiving(behave) as receiver:
        response = send(receiver)
    assert response.error is WebhookFailure.CONNECTION_LOST
    assert response.is_ambiguous
    assert receiver.connections == 1


def test_reset_before_request_is_reported_as_error_and_not_retried() -> None:
    with receiving(lambda _receiver, connection: reset(connection)) as receiver:
        response = send(receiver, body=b"x" * 5_000_000)
    # The sender can receive the reset during the TCP handshake or later.
    if response.was_sent:
        assert response.error is WebhookFailure.CONNECTION_LOST
    else:
        assert response.error is WebhookFailure.NO_CONNECTION
    assert receiver.connections == 1


def test_response_before_end_of_request_is_accepted() -> None:
    def behave(_receiver: Receiver, connection: socket.socket) -> None:
        connection.recv(100)
        connection.sendall(b"HTTP/1.1 413 Too large\r\nContent-Length: 0\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass

    with receiving(behave) as receiver:
        response = send(receiver, body=b"x" * 3_000_000)
    assert response.status == 413


def test_refused_connection_is_reported_as_not_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    response = send(Receiver(port))
    assert response.error is WebhookFailure.NO_CONNECTION
    assert not response.was_sent


def test_connection_that_receiver_does_not_accept_is_reported_as_connect_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for connection in waiting:
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", port))
        response = send(Receiver(port), network=SHORT)
        for connection in waiting:
            connection.close()
    assert response.error is WebhookFailure.CONNECT_TIMEOUT
    assert not response.was_sent
    assert response.duration_ms < 100 + TOLERANCE_MS


@pytest.mark.parametrize(
    "addresses",
    [
        ("93.184.216.34", "127.0.0.1"),
        ("127.0.0.1", "93.184.216.34"),
        ("127.0.0.1",),
        ("2606:4700::1", "::1"),
        ("::ffff:169.254.169.254",),
        ("64:ff9b::a9fe:a9fe",),
        ("2002:a9fe:a9fe::1",),
        ("fd00:ec2::254",),
    ],
)
def test_no_connection_is_opened_to_host_with_any_private_address(
    addresses: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[object] = []
    monkeypatch.setattr(socket, "create_connection", lambda *args: connections.append(args))
    with receiving(responding_with(OK)) as receiver:
        response = post(
            f"https://a.example:{receiver.port}/",
            HEADERS,
            BODY,
            allow_private=False,
            network=network_resolving_to(*addresses),
        )
    assert response.error is WebhookFailure.FORBIDDEN_ADDRESS
    assert not response.was_sent
    assert connections == []
    assert receiver.connections == 0


def test_connection_uses_checked_address_without_resolving_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolved_hosts: list[str] = []
    connected_addresses: list[tuple[str, int]] = []

    def resolve(host: str, _port: int) -> Sequence[Address]:
        resolved_hosts.append(host)
        return [ip_address("93.184.216.34")]

    def connect(where: tuple[str, int], _timeout: float) -> socket.socket:
        connected_addresses.append(where)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    response = post(
        "https://a.example/", HEADERS, BODY, allow_private=False, network=Network(resolve)
    )
    assert response.error is WebhookFailure.NO_CONNECTION
    assert resolved_hosts == ["a.example"]
    assert connected_addresses == [("93.184.216.34", 443)]


def test_second_address_is_tried_when_first_refuses_connection() -> None:
    with receiving(responding_with(OK)) as receiver:
        response = send(
            receiver, host="a.example", network=network_resolving_to("127.0.0.2", "127.0.0.1")
        )
    assert response.is_success
    assert receiver.connections == 1


def test_host_without_address_is_reported_as_not_sent() -> None:
    def fail(_host: str, _port: int) -> Sequence[Address]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    for network in (Network(fail), network_resolving_to()):
        response = send(Receiver(1), host="a.example", network=network)
        assert response.error is WebhookFailure.NO_ADDRESS
        assert not response.was_sent


def test_unresponsive_resolver_is_reported_as_connect_timeout() -> None:
    ended = threading.Event()

    def hang(_host: str, _port: int) -> Sequence[Address]:
        ended.wait(5)
        return []

    response = send(Receiver(1), host="a.example", network=replace(SHORT, resolve=hang))
    ended.set()
    assert response.error is WebhookFailure.CONNECT_TIMEOUT
    assert response.duration_ms < 100 + TOLERANCE_MS


def test_environment_proxies_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(responding_with(OK)) as proxy, receiving(responding_with(OK)) as receiver:
        for name in ("http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert send(receiver).is_success
    assert (proxy.connections, receiver.connections) == (0, 1)


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("http://a.example/", {}),
        ("https://user@a.example/", {}),
        ("https://127.0.0.1/", {}),
        ("https://a.example/", {"X-A": "b\r\nX-B: c"}),
        ("https://a.example/", {"Host": "b.example"}),
    ],
)
def test_host_of_invalid_request_is_not_resolved(url: str, headers: dict[str, str]) -> None:
    def fail(_host: str, _port: int) -> Sequence[Address]:
        raise AssertionError("The host name was resolved.")

    response = post(url, headers, BODY, allow_private=False, network=Network(fail))
    assert response.error is WebhookFailure.BAD_REQUEST
    assert not response.was_sent


def test_tls_sends_host_name_and_checks_it_in_certificate() -> None:
    names: list[str | None] = []
    tls = server_tls("a.example")
    tls.sni_callback = lambda _socket, name, _context: names.append(name)
    with receiving(responding_with(OK), tls) as receiver:
        response = send_over_tls(receiver)
    assert response.is_success
    assert names == ["a.example"]


@pytest.mark.parametrize(
    ("tls", "reason"),
    [
        (server_tls("a.example", self_signed=True), "certificate signature failure"),
        (server_tls("b.example"), "Hostname mismatch"),
        (server_tls("127.0.0.1"), "Hostname mismatch"),
        (server_tls("a.example", expired=True), "certificate has expired"),
    ],
    ids=["self-signed", "other host", "IP address", "expired"],
)
def test_request_is_not_sent_if_certificate_is_invalid(tls: ssl.SSLContext, reason: str) -> None:
    with receiving(responding_with(OK), tls) as receiver:
        response = send_over_tls(receiver)
    assert response.error is WebhookFailure.TLS
    assert reason in response.detail
    assert not response.was_sent
    assert BODY not in b"".join(receiver.requests)


def test_certificate_of_unknown_authority_is_rejected_by_default() -> None:
    with receiving(responding_with(OK), server_tls("a.example")) as receiver:
        response = send_over_tls(receiver, tls=system_tls, attempt_s=10)
    assert response.error is WebhookFailure.TLS
    assert not response.was_sent


@pytest.mark.parametrize(
    "first", [b"HTTP/1.1 400 Plain\r\n\r\n", b"\x15\x03\x03\x00\x02\x02\x28", b""]
)
def test_receiver_without_tls_gets_no_request(first: bytes) -> None:
    with receiving(lambda _receiver, connection: connection.sendall(first)) as receiver:
        response = send_over_tls(receiver)
    assert response.error is WebhookFailure.TLS
    assert not response.was_sent


def test_slow_tls_handshake_times_out_at_deadline() -> None:
    def behave(receiver: Receiver, connection: socket.socket) -> None:
        connection.recv(4096)
        receiver.trickle(connection, b"\x16\x03\x03\x3f\x00" + b"\x02" * 10_000)

    with receiving(behave) as receiver:
        response = send_over_tls(receiver, attempt_s=0.2)
    assert response.error in (WebhookFailure.TIMEOUT, WebhookFailure.TLS)
    assert not response.was_sent
    assert response.duration_ms < 200 + TOLERANCE_MS


def test_slow_tls_response_times_out_at_deadline() -> None:
    with receiving(trickle_status, server_tls("a.example")) as receiver:
        response = send_over_tls(receiver, attempt_s=0.25)
    assert response.error is WebhookFailure.TIMEOUT
    assert response.is_ambiguous
    assert response.duration_ms < 250 + TOLERANCE_MS


def test_concurrent_attempts_do_not_wait_for_each_other() -> None:
    started = time.monotonic()
    with receiving(hang_after_reading) as slow, receiving(responding_with(OK)) as healthy:
        waiting = [
            threading.Thread(target=send, args=(slow,), kwargs={"network": SHORT})
            for _ in range(10)
        ]
        for thread in waiting:
            thread.start()
        assert send(healthy).is_success
        for thread in waiting:
            thread.join()
    assert time.monotonic() - started < 2
