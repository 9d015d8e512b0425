"""Determine the public base URL of this deployment from the gateway's request context."""

from chalice.app import Request


def server_address(request: Request) -> str:
    """Return the base URL of this deployment, or only its path if the gateway reports no host.

    The URL comes from the gateway's request context, never from a header that callers can set.
    """
    context = request.context
    # The path starts with the gateway's stage or the base path of a custom domain; the route
    # follows.
    prefix = str(context["path"]).removesuffix(str(context["resourcePath"]))
    if domain := context.get("domainName"):
        return f"https://{domain}{prefix}"
    if api := context.get("apiId"):
        # Emulators report no domain, because their gateways share a host and differ by path.
        return f"/restapis/{api}{prefix}/_user_request_"
    return prefix or "/"
