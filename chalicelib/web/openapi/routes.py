"""Serve the OpenAPI document and the pages of the documentation.

`make generate` generates the document; packaging and ``chalice local`` generate the pages from it.
When it serves a file, the service inserts the deployment's address and changes nothing else.
"""

import html
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from chalice import Blueprint, Response
from chalice.app import Request

from chalicelib.domain.errors import NotFound
from chalicelib.web.cacheable import cacheable
from chalicelib.web.openapi.operation import operation
from chalicelib.web.problems import problem
from chalicelib.web.request_log import request_id_of

routes = Blueprint(__name__)

DOCUMENT: Final = Path(__file__).with_name("openapi.json")
INDEX: Final = "index"
"""The name of the page that lists all other pages."""
PAGES = Path(__file__).with_name("docs")
"""The folder of the pages: in the deployed package; ``chalice local`` uses another one."""
_PAGE_NAME: Final = re.compile("[a-z-]+")
_MAX_AGE_S: Final = 300
_LOOPBACK: Final = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?")
_TAG: Final = "Documentation"
_IF_NONE_MATCH: Final = {
    "If-None-Match": "The `ETag` of an earlier response. If nothing has changed, the status is 304."
}


@routes.route("/openapi.json", methods=["GET", "HEAD"], content_types=[])
@operation(
    tag=_TAG,
    description="Returns the description of this API as an OpenAPI 3.1 document.",
    parameters=_IF_NONE_MATCH,
    returns="The OpenAPI document.",
)
def get_description() -> Response:
    """Get the OpenAPI document."""
    request = routes.current_request
    document = _document(request_base_url(request))
    return cacheable(request, document, "application/json", max_age_s=_MAX_AGE_S)


@routes.route("/docs", methods=["GET", "HEAD"], content_types=[])
@operation(
    tag=_TAG,
    description="Returns the first page of the documentation, with links to its guides and to a"
    " page for each tag. The pages load nothing from other hosts.",
    parameters=_IF_NONE_MATCH,
    returns="The page.",
    media_types=("text/html",),
)
def get_documentation() -> Response:
    """Get the index of the documentation."""
    return _page_response(INDEX)


@routes.route("/docs/{tag}", methods=["GET", "HEAD"], content_types=[])
@operation(
    tag=_TAG,
    description="Returns a page of the documentation: the operations with a tag, or a guide.",
    parameters={
        "tag": "The tag in lower case, with a hyphen between words, or the name of a guide.",
        **_IF_NONE_MATCH,
    },
    returns="The page.",
    media_types=("text/html",),
    missing="page",
)
def get_documentation_page(tag: str) -> Response:
    """Get a page of the documentation."""
    if tag == INDEX or not _PAGE_NAME.fullmatch(tag) or not _file(tag).exists():
        return problem(NotFound("page"), request_id_of(routes.current_request))
    return _page_response(tag)


def _page_response(name: str) -> Response:
    from chalicelib.web.pages.page import security_headers

    request = routes.current_request
    page = _page(name, base_url(request))
    # The search reads the other pages.
    headers = security_headers(page, {"connect-src": "'self'"})
    return cacheable(
        request, page, "text/html; charset=utf-8", max_age_s=_MAX_AGE_S, headers=headers
    )


def _file(name: str) -> Path:
    return PAGES / f"{name}.html"


@lru_cache(maxsize=8)
def _document(address: str) -> str:
    document = DOCUMENT.read_text(encoding="utf-8")
    return document.replace('"url": "/"', f'"url": {json.dumps(address)}', 1)


@lru_cache(maxsize=64)
def _page(name: str, address: str) -> str:
    page = _file(name).read_text(encoding="utf-8")
    return page.replace("BASE_URL='…'", f"BASE_URL='{html.escape(address)}'")


def base_url(request: Request) -> str:
    """Return the base URL for the commands of the documentation.

    If the gateway reports no host, use the host of the `Host` header, but only if it is a loopback
    address. Callers can forge this header, so return "…" for any other host.
    """
    address = request_base_url(request)
    if "://" in address:
        return address
    host = request.headers.get("host", "")
    origin = f"http://{host}" if _LOOPBACK.fullmatch(host) else "…"
    return origin + address.rstrip("/")


def request_base_url(request: Request) -> str:
    """Return the base URL of this deployment, or only its path if the gateway reports no host.

    The URL comes from the gateway's request context, never from a header that callers can set.
    """
    context = request.context
    # The path consists of the gateway's stage or the base path of a custom domain, then the route.
    route = str(context["resourcePath"]).format(**(request.uri_params or {}))
    prefix = str(context["path"]).removesuffix(route)
    if domain := context.get("domainName"):
        return f"https://{domain}{prefix}"
    if api := context.get("apiId"):
        # Emulators report no domain, because their gateways share a host and differ by path.
        return f"/restapis/{api}{prefix}/_user_request_"
    return prefix or "/"
