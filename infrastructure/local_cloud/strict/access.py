"""Which requests the local cloud accepts.

The emulator serves every request. Without these rules, a web page in the developer's browser could
create and run functions, because browsers send requests of any page to the loopback address.
"""

import re
from collections.abc import Iterable, MutableMapping
from typing import Any, Final
from urllib.parse import urlsplit

Headers = Iterable[tuple[bytes, bytes]]
Scope = MutableMapping[str, Any]

_INVOKE_PATH: Final = re.compile(r"/restapis/[^/]+/[^/]+/_user_request_(/.*)?", re.DOTALL)
_LOOPBACK_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_LOOPBACK_ADDRESSES: Final = frozenset({"127.0.0.1", "::1"})
_SAME_ORIGIN: Final = frozenset({"same-origin", "none"})


def rejection_reason(path: str, headers: Headers) -> str | None:
    """Return why a request is rejected, or None if it is allowed.

    The host must be the loopback address, so that DNS rebinding fails. Requests of web pages of
    other origins may only invoke the deployed API.
    """
    hosts = _values(headers, b"host")
    if len(hosts) != 1 or _hostname(hosts[0]) not in _LOOPBACK_NAMES:
        return "The Host header must be the loopback address."
    if _INVOKE_PATH.fullmatch(path):
        return None
    if any(origin != f"http://{hosts[0]}" for origin in _values(headers, b"origin")):
        return "Requests of other origins may only invoke the deployed API."
    if any(site not in _SAME_ORIGIN for site in _values(headers, b"sec-fetch-site")):
        return "Requests of other sites may only invoke the deployed API."
    return None


def is_local_tool(client: tuple[str, int] | None, headers: Headers) -> bool:
    """Return whether a request comes from a program on this machine that is not a browser."""
    return (
        client is not None
        and client[0] in _LOOPBACK_ADDRESSES
        and not _values(headers, b"origin")
        and not _values(headers, b"sec-fetch-site")
    )


def _hostname(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
        return parts.hostname if parts.netloc == host and "@" not in host else None
    except ValueError:
        return None


def _values(headers: Headers, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def with_client_address(scope: Scope) -> Scope:
    """Replace the `X-Forwarded-For` headers of a request with the address of its client.

    The emulator's gateway takes the source address from this header. API Gateway takes the source
    address from the connection, so a client cannot choose it.
    """
    name = b"x-forwarded-for"
    client = scope.get("client")
    address = [(name, client[0].encode())] if client else []
    others = [(key, value) for key, value in scope["headers"] if key.lower() != name]
    return {**scope, "headers": [*others, *address]}
