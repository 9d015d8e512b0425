"""The public base URL of this deployment, as reported by the gateway."""

from chalice.app import Request


def server_address(request: Request) -> str:
    """Return the base URL, or only its path if the gateway does not report a host.

    It comes from the gateway's request context, never from a header that callers can set.
    """
    context = request.context
    # The path before the route: the gateway's stage, or the base path of a custom domain.
    prefix = str(context["path"]).removesuffix(str(context["resourcePath"]))
    if domain := context.get("domainName"):
        return f"https://{domain}{prefix}"
    if api := context.get("apiId"):
        # Emulators report no domain: their gateways share a host and differ by path.
        return f"/restapis/{api}{prefix}/_user_request_"
    return prefix or "/"
