"""Parse and validate webhook URLs without name resolution.

URLs are validated when a workflow is saved and again before each attempt. The addresses that a host
name resolves to are checked only before an attempt.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from chalicelib.domain.webhooks.public_address import is_public

MAX_URL_LENGTH: Final = 2048

_DEFAULT_PORTS: Final = {"https": 443, "http": 80}
_URL_CHARACTERS: Final = re.compile(r"[^\x00-\x20\x7f\\]+")
_TARGET: Final = re.compile(r"(?:[A-Za-z0-9._~:/?@!$&'()*+,;=\[\]-]|%[0-9A-Fa-f]{2})*")
_PORT: Final = re.compile(r"[0-9]{1,5}")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LOCAL_NAMES: Final = ("localhost", "local", "internal", "localdomain", "home.arpa")


class InvalidWebhookUrl(ValueError):
    """The webhook URL is invalid. The message states the reason in one sentence."""


@dataclass(frozen=True)
class WebhookUrl:
    """A parsed webhook URL.

    Attributes:
        scheme: ``https``, or ``http`` if plain http is allowed for local development.
        host: a host name in lower-case ASCII (IDNA), or an IP address without brackets.
        target: the path and the query as sent in the request line.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The host as an IP address, or None if the host is a name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None

    @property
    def authority(self) -> str:
        """The value of the ``Host`` header: the host, and the port unless it is the default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def parse_webhook_url(url: str, *, allow_private: bool) -> WebhookUrl:
    """Parse a webhook URL.

    Args:
        allow_private: accept plain http and private addresses, for local development.

    Raises:
        InvalidWebhookUrl: the URL is invalid.
    """
    parts = _split(url)
    scheme = parts.scheme
    if scheme != "https" and not (scheme == "http" and allow_private):
        raise InvalidWebhookUrl("Must be an https URL.")
    if "@" in parts.netloc:
        raise InvalidWebhookUrl("Must not contain a user name or a password.")
    parsed = WebhookUrl(scheme, _host(parts), _port(parts), _target(parts))
    if not (allow_private or _may_be_public(parsed)):
        raise InvalidWebhookUrl("Must be a public address.")
    return parsed


def _split(url: str) -> SplitResult:
    if len(url) > MAX_URL_LENGTH:
        raise InvalidWebhookUrl(f"Must be at most {MAX_URL_LENGTH} characters.")
    # Check the URL before urlsplit parses it, because urlsplit silently removes line breaks.
    if not _URL_CHARACTERS.fullmatch(url):
        raise InvalidWebhookUrl("Must not contain spaces, control characters or backslashes.")
    try:
        return urlsplit(url)
    except ValueError:
        raise InvalidWebhookUrl("Invalid URL.") from None


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").removesuffix(".")
    if parts.netloc.startswith("["):
        return _literal(host)
    if not host.isascii():
        host = _to_ascii(host)
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise InvalidWebhookUrl("Invalid host name.")
    # Resolvers accept 127.1 and 0x7f.1 as addresses. Reject such hosts: if the last label is
    # numeric, the host must be a complete IP address.
    return _literal(host) if _NUMBER.fullmatch(labels[-1]) else host


def _literal(host: str) -> str:
    try:
        address = ip_address(host)
    except ValueError:
        raise InvalidWebhookUrl("Invalid IP address.") from None
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        raise InvalidWebhookUrl("Must not contain an IPv6 zone.")
    return str(address)


def _to_ascii(host: str) -> str:
    # The library is imported on first use, because its tables load slowly and few URLs need the
    # library.
    import idna

    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError:
        raise InvalidWebhookUrl("Invalid host name.") from None


def _port(parts: SplitResult) -> int:
    in_brackets = parts.netloc.startswith("[")
    rest = parts.netloc.rpartition("]")[2] if in_brackets else parts.netloc
    host, colon, number = rest.partition(":")
    if in_brackets and host:
        raise InvalidWebhookUrl("Invalid host name.")
    if not colon:
        return _DEFAULT_PORTS[parts.scheme]
    if not _PORT.fullmatch(number) or not 0 < int(number) < 65536:
        raise InvalidWebhookUrl("Invalid port.")
    return int(number)


def _target(parts: SplitResult) -> str:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not _TARGET.fullmatch(target):
        raise InvalidWebhookUrl("Invalid character in the path or the query; use percent-encoding.")
    return target


def _may_be_public(url: WebhookUrl) -> bool:
    if url.address:
        return is_public(url.address)
    return "." in url.host and not any(
        url.host == name or url.host.endswith(f".{name}") for name in _LOCAL_NAMES
    )
