"""Code that all public endpoints share: request parsing, problem responses, preflight routes."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from chalice import Blueprint, Response
from chalice.app import Request

from chalicelib.domain.errors import InvalidInput
from chalicelib.web import query
from chalicelib.web.accept import prefers_html
from chalicelib.web.cors import add_preflight_route
from chalicelib.web.openapi.operation import OPERATIONS
from chalicelib.web.problems import problem
from chalicelib.web.request_log import log_unless_domain_error, request_id_of, source_of

if TYPE_CHECKING:
    from chalicelib.services.forms.cached_forms import Respondent


@dataclass(frozen=True)
class PublicRequest:
    """A request to a public endpoint.

    Attributes:
        http: the request from Chalice.
    """

    http: Request

    @property
    def accepts_html(self) -> bool:
        """Whether the client is a browser that displays the response, not a script."""
        return prefers_html(self.http.headers.get("accept", ""))

    @cached_property
    def respondent(self) -> "Respondent":
        """The respondent's languages and IP address.

        The address comes from the gateway, never from a request header.
        """
        from chalicelib.services.forms.cached_forms import Respondent

        return Respondent(
            language=query.text(self.http, "language"),
            accept_language=self.http.headers.get("accept-language"),
            address=source_of(self.http),
        )


PublicView = Callable[[PublicRequest], Response]


def public_route(
    routes: Blueprint, method: str, path: str, *, is_page: bool = False
) -> Callable[[PublicView], Callable[..., Response]]:
    """Route requests to a view function that accepts a `PublicRequest`.

    A GET route also accepts HEAD. The path also gets a route for preflight requests.

    Args:
        is_page: whether the view function returns HTML. Its errors, and the errors of form
            submissions that accept HTML, are HTML pages too.
    """
    methods = ["GET", "HEAD"] if method == "GET" else [method]

    def decorate(view: PublicView) -> Callable[..., Response]:
        @functools.wraps(view)
        def endpoint(**_: str) -> Response:
            return _respond(view, routes.current_request, is_page)

        add_preflight_route(routes, path, method)
        routes.route(path, methods=methods, content_types=[])(endpoint)
        return endpoint

    return decorate


def _respond(view: PublicView, http: Request, is_page: bool) -> Response:
    request = PublicRequest(http)
    try:
        return view(request)
    except Exception as raised:
        error = log_unless_domain_error(raised)
        if not is_page and (http.method != "POST" or not request.accepts_html):
            if isinstance(error, InvalidInput):
                # Imported here: most processes never respond to invalid input.
                from chalicelib.web.hints import add_hints

                add_hints(error, http, OPERATIONS[view])
            return problem(error, request_id_of(http))
        from chalicelib.web.pages.errors import error_page

        return error_page(request.respondent, error)
