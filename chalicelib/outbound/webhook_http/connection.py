"""Connect to a webhook receiver, within a time limit and only at permitted addresses."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from chalicelib.domain.webhooks.public_address import is_public
from chalicelib.domain.webhooks.url import WebhookUrl

Address = IPv4Address | IPv6Address

_MAX_DETAIL_CHARACTERS: Final = 200


class WebhookFailure(StrEnum):
    """The reason why an attempt has no response status."""

    BAD_REQUEST = "BAD_REQUEST"
    """The URL or a header is invalid, so nothing was sent and the host name was not resolved."""
    NO_ADDRESS = "NO_ADDRESS"
    """The host name has no address."""
    FORBIDDEN_ADDRESS = "FORBIDDEN_ADDRESS"
    """The host has an address that is not public. No connection was attempted."""
    NO_CONNECTION = "NO_CONNECTION"
    """None of the host's addresses accepted a connection."""
    CONNECT_TIMEOUT = "CONNECT_TIMEOUT"
    """Resolving the host name or connecting timed out."""
    TLS = "TLS"
    """The certificate is invalid for the host or not trusted, or the receiver does not use TLS."""
    TIMEOUT = "TIMEOUT"
    """The attempt timed out before a status was received."""
    CONNECTION_LOST = "CONNECTION_LOST"
    """The receiver closed or reset the connection before it sent a status."""
    BAD_ANSWER = "BAD_ANSWER"
    """The response is not HTTP, or it exceeds the size limit before a final status."""


class AttemptFailed(Exception):
    """An attempt failed without a response status."""

    def __init__(self, failure: WebhookFailure, detail: str) -> None:
        super().__init__(f"{failure}: {detail}")
        self.failure = failure
        self.detail = detail


def resolve(host: str, port: int) -> list[Address]:
    """Return all addresses of a host name in the order of the operating system's resolver.

    Raises:
        OSError: the host name has no address.
    """
    results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(str(result[4][0])) for result in results))


def verifying_tls(authorities: str | None = None) -> ssl.SSLContext:
    """Return a TLS context that verifies certificates and host names.

    Python 3.13 and later also reject certificates that deviate from RFC 5280 in form. Some public
    authorities issue such certificates, so this check is off: all versions of Python accept the
    same certificates.

    Args:
        authorities: the trusted authorities as PEM. None means those of the system.
    """
    context = ssl.create_default_context(cadata=authorities)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(["http/1.1"])
    return context


@cache
def system_tls() -> ssl.SSLContext:
    """Return the TLS context of webhooks. It is cached because creating it is slow."""
    return verifying_tls()


@dataclass(frozen=True)
class Network:
    """The resolver, TLS context and time limits of an attempt. Tests replace them.

    Attributes:
        resolve: returns the addresses of a host name.
        tls: returns the TLS context.
        connect_s: time limit for resolving the host name and connecting, including all addresses.
        attempt_s: time limit for the complete attempt.
        body_s: time limit for reading the response body after the headers.
    """

    resolve: Callable[[str, int], Sequence[Address]] = resolve
    tls: Callable[[], ssl.SSLContext] = system_tls
    connect_s: float = 5.0
    attempt_s: float = 10.0
    body_s: float = 1.0


INTERNET: Final = Network()


def connect(
    network: Network, url: WebhookUrl, deadline: float, *, allow_private: bool
) -> socket.socket:
    """Connect to one of the host's addresses. If the scheme is https, start TLS.

    All addresses are checked first. The host name is not resolved again after the check, so the
    connection cannot go to an unchecked address.

    Args:
        deadline: monotonic time at which the attempt times out.
        allow_private: whether addresses that are not public are allowed.

    Raises:
        AttemptFailed: no connection was established. No byte of the request was sent.
    """
    connect_deadline = min(deadline, time.monotonic() + network.connect_s)
    addresses = _resolve_before(network, url, connect_deadline)
    forbidden = [address for address in addresses if not is_public(address)]
    if forbidden and not allow_private:
        raise AttemptFailed(WebhookFailure.FORBIDDEN_ADDRESS, f"{forbidden[0]} is not public")
    connection = _connect_to_any(addresses, url.port, connect_deadline)
    if url.scheme == "http":
        return connection
    return _start_tls(connection, network.tls(), url.host, deadline)


def remaining_s(deadline: float) -> float:
    """Return the seconds until the deadline.

    Raises:
        TimeoutError: the deadline has passed.
    """
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise TimeoutError
    return remaining


def error_detail(error: Exception) -> str:
    """Return a short description of a network error, without its error number."""
    detail = getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error)
    return str(detail)[:_MAX_DETAIL_CHARACTERS]


def _resolve_before(network: Network, url: WebhookUrl, deadline: float) -> Sequence[Address]:
    if url.address:
        return [url.address]
    results: list[Sequence[Address]] = []
    errors: list[Exception] = []

    def look_up() -> None:
        try:
            results.append(network.resolve(url.host, url.port))
        except (OSError, ValueError) as error:
            errors.append(error)

    # The system's resolver has no time-out, so it runs in a thread that is abandoned at the
    # deadline.
    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(max(0.0, deadline - time.monotonic()))
    if results and results[0]:
        return results[0]
    if results or errors:
        raise AttemptFailed(WebhookFailure.NO_ADDRESS, f"{url.host} has no address")
    raise AttemptFailed(WebhookFailure.CONNECT_TIMEOUT, f"{url.host} could not be resolved in time")


def _connect_to_any(addresses: Sequence[Address], port: int, deadline: float) -> socket.socket:
    last_error: OSError = TimeoutError()
    for position, address in enumerate(addresses):
        # An unresponsive address must not use up the time for the remaining addresses.
        share_s = (deadline - time.monotonic()) / (len(addresses) - position)
        if share_s <= 0:
            break
        try:
            return socket.create_connection((str(address), port), share_s)
        except OSError as error:
            last_error = error
    if isinstance(last_error, TimeoutError):
        raise AttemptFailed(WebhookFailure.CONNECT_TIMEOUT, "connecting timed out")
    raise AttemptFailed(WebhookFailure.NO_CONNECTION, error_detail(last_error))


def _start_tls(
    connection: socket.socket, context: ssl.SSLContext, host: str, deadline: float
) -> ssl.SSLSocket:
    try:
        connection.settimeout(remaining_s(deadline))
        return context.wrap_socket(connection, server_hostname=host)
    except TimeoutError:
        connection.close()
        raise AttemptFailed(WebhookFailure.TIMEOUT, "timed out during the TLS handshake") from None
    except (OSError, ValueError) as error:
        connection.close()
        raise AttemptFailed(WebhookFailure.TLS, error_detail(error)) from None
