"""The interface description: for programs at ``/openapi.json``, for people at ``/docs``.

What makes them is imported inside the views: it is heavy, and no other request needs it.
"""

from typing import Final

from chalice import Blueprint, Response

from chalicelib.web.public.cacheable import cacheable
from chalicelib.web.server_address import server_address

routes = Blueprint(__name__)

_MAX_AGE_S: Final = 300


@routes.route("/openapi.json", methods=["GET"], content_types=[])
def get_openapi() -> Response:
    """The description as OpenAPI 3.1."""
    from chalicelib.web.openapi.document import description_json

    request = routes.current_request
    document = description_json(server_address(request))
    return cacheable(request, document, "application/json", max_age_s=_MAX_AGE_S)


@routes.route("/docs", methods=["GET"], content_types=[])
def get_docs() -> Response:
    """The description as a page."""
    from chalicelib.web.openapi.docs_page import docs_page

    page = docs_page()
    return cacheable(
        routes.current_request,
        page.html,
        "text/html; charset=utf-8",
        max_age_s=_MAX_AGE_S,
        headers=page.headers,
    )
