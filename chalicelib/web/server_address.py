"""Determine the public base URL of this deployment from the gateway's request context."""

import re
from typing import Final

from chalice.app import Request

_LOOPBACK: Final = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?")


def base_url(request: Request) -> str:
    """Return the base URL for the commands of the documentation page.

    If the gateway reports no host, use the host of the `Host` header, but only if it is a loopback
    address. Callers can forge this header, so return "…" for any other host.
    """
    address = server_address(request)
    if "://" in address:
        return address
    host = request.headers.get("host", "")
    origin = f"http://{host}" if _LOOPBACK.fullmatch(host) else "…"
    return origin + address.rstrip("/")


def server_address(request: Request) -> str:
    """Return the base URL of this deployment, or only its path if the gateway reports no host.

    The URL comes from the gateway's request context, never from a header that callers can set.
    """
    context = request.context
    # The path consists of the gateway's stage or the base path of a custom domain, then the route.
    prefix = str(context["path"]).removesuffix(str(context["resourcePath"]))
    if domain := context.get("domainName"):
        return f"https://{domain}{prefix}"
    if api := context.get("apiId"):
        # Emulators report no domain, because their gateways share a host and differ by path.
        return f"/restapis/{api}{prefix}/_user_request_"
    return prefix or "/"
