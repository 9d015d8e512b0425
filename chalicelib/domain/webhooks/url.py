"""Which URLs a webhook may be sent to, judged by their text alone.

Used when one is saved and again before each request. What a name resolves to is judged only then.
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
    """The URL breaks a rule; the message is one sentence that says which."""


@dataclass(frozen=True)
class WebhookUrl:
    """A URL that a webhook may be sent to, taken apart.

    Attributes:
        scheme: ``https``, or ``http`` where local work allows it.
        host: a name in lower case and ASCII (IDNA), or an IP address without brackets.
        target: path and query, as they are sent.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The host when it is an IP address, else None."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None

    @property
    def authority(self) -> str:
        """Host and port as the ``Host`` header has them; a scheme's own port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def url_error(url: str, *, allow_private: bool) -> str | None:
    """What is wrong with the URL, one sentence, or None."""
    try:
        parse_webhook_url(url, allow_private=allow_private)
    except InvalidWebhookUrl as error:
        return str(error)
    return None


def parse_webhook_url(url: str, *, allow_private: bool) -> WebhookUrl:
    """The URL, taken apart.

    Args:
        allow_private: whether plain http and addresses that are not public will do, for local work.

    Raises:
        UnfitWebhookUrl: it breaks a rule.
    """
    parts = _split(url)
    scheme = parts.scheme
    if scheme != "https" and not (scheme == "http" and allow_private):
        raise InvalidWebhookUrl("This must be an https address.")
    if "@" in parts.netloc:
        raise InvalidWebhookUrl("This must hold no user name and no password.")
    parsed = WebhookUrl(scheme, _host(parts), _port(parts), _target(parts))
    if not (allow_private or _may_be_public(parsed)):
        raise InvalidWebhookUrl("This must lead to the public internet.")
    return parsed


def _split(url: str) -> SplitResult:
    if len(url) > MAX_URL_LENGTH:
        raise InvalidWebhookUrl(f"This must be at most {MAX_URL_LENGTH} characters.")
    # Before urlsplit, which drops line breaks instead of refusing them.
    if not _URL_CHARACTERS.fullmatch(url):
        raise InvalidWebhookUrl("This must hold no spaces, control characters and backslashes.")
    try:
        return urlsplit(url)
    except ValueError:
        raise InvalidWebhookUrl("This is no valid address.") from None


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").removesuffix(".")
    if parts.netloc.startswith("["):
        return _literal(host)
    if not host.isascii():
        host = _in_ascii(host)
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise InvalidWebhookUrl("This has no valid host name.")
    # Like 127.1 or 0x7f.1, which resolvers take for addresses.
    return _literal(host) if _NUMBER.fullmatch(labels[-1]) else host


def _literal(host: str) -> str:
    try:
        address = ip_address(host)
    except ValueError:
        raise InvalidWebhookUrl("This has no valid IP address.") from None
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        raise InvalidWebhookUrl("This must hold no zone of an IP address.")
    return str(address)


def _in_ascii(host: str) -> str:
    # Its tables take time to load, and hardly any URL needs them.
    import idna

    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError:
        raise InvalidWebhookUrl("This has no valid host name.") from None


def _port(parts: SplitResult) -> int:
    in_brackets = parts.netloc.startswith("[")
    rest = parts.netloc.rpartition("]")[2] if in_brackets else parts.netloc
    host, colon, number = rest.partition(":")
    if in_brackets and host:
        raise InvalidWebhookUrl("This has no valid host name.")
    if not colon:
        return _DEFAULT_PORTS[parts.scheme]
    if not _PORT.fullmatch(number) or not 0 < int(number) < 65536:
        raise InvalidWebhookUrl("This has no valid port.")
    return int(number)


def _target(parts: SplitResult) -> str:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not _TARGET.fullmatch(target):
        raise InvalidWebhookUrl("The path and query must have other than plain characters as %XX.")
    return target


def _may_be_public(url: WebhookUrl) -> bool:
    if url.address:
        return is_public(url.address)
    return "." in url.host and not any(
        url.host == name or url.host.endswith(f".{name}") for name in _LOCAL_NAMES
    )
