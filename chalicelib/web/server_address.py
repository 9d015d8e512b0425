"""Where the interface is reached from outside, as the gateway in front of it tells."""

from chalice.app import Request


def server_address(request: Request) -> str:
    """The address that paths are added to: without its host where the gateway does not tell it.

    It is taken from what the gateway says of itself, never from a header that callers can set.
    """
    context = request.context
    # What stands before the route: the gateway's stage, or the base path of a custom domain.
    prefix = str(context["path"]).removesuffix(str(context["resourcePath"]))
    if domain := context.get("domainName"):
        return f"https://{domain}{prefix}"
    if api := context.get("apiId"):
        # Emulators name no domain: there, gateways share one host and are told apart by the path.
        return f"/restapis/{api}{prefix}/_user_request_"
    return prefix or "/"
