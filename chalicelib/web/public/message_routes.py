"""The routes of links in messages: the unsubscribe page, and the short link to a survey.

Mail scanners open every link, so GET and HEAD requests change nothing.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from chalice import Blueprint, Response

from chalicelib.domain.errors import NotFound, Unavailable
from chalicelib.log import logger
from chalicelib.web import query
from chalicelib.web.cors import add_preflight_route
from chalicelib.web.openapi.operation import operation
from chalicelib.web.public.endpoint import PublicRequest
from chalicelib.web.request_log import request_id_of

if TYPE_CHECKING:
    from chalicelib.domain.forms.public.survey import PublicSurvey
    from chalicelib.domain.solicitation.tokens import UnsubscribeToken

routes = Blueprint(__name__)

_UNSUBSCRIBE: Final = "/public/unsubscribe"
_TAG: Final = "Messages"
_HTML: Final = "text/html"
_TOKEN: Final = {
    "token": "Token from the unsubscribe link of a message.",
    "language": "Language of the page. By default, `Accept-Language` determines the language.",
}


@routes.route("/s/{code}", methods=["GET", "HEAD"], content_types=[])
@operation(
    tag=_TAG,
    description="Redirects to the page of the survey or contact form. The page gets the labels"
    " (`l.<name>=<value>`) and the answers (`a.<field key>=<value>`) of the link.",
    parameters={
        "code": "The tracker as 22 base64url characters. On posters, `s` or `c`, the id of the"
        " survey or contact form and, if it is fixed, the id of the store, each as 22 characters."
    },
    returns="The redirect.",
    status=302,
    missing="survey link",
)
def open_short_link(code: str) -> Response:
    """Open a short link."""
    from chalicelib.domain.solicitation.links import (
        ANSWER_PREFIX,
        LABEL_PREFIX,
        page_of_short_link,
        with_parameters,
    )
    from chalicelib.web.pages.errors import error_page
    from chalicelib.web.problems import problem

    page = page_of_short_link(code)
    if page is None:
        request, error = PublicRequest(routes.current_request), NotFound("survey link")
        if request.accepts_html:
            return error_page(request.respondent, error, is_framed=False)
        return problem(error, request_id_of(request.http))
    for prefix in (LABEL_PREFIX, ANSWER_PREFIX):
        page = with_parameters(page, prefix, query.texts(routes.current_request, prefix))
    # The target is relative, so that it also works below the path of a stage or a custom domain.
    headers: dict[str, str | list[str]] = {
        "Location": f"../public/{page}",
        "Cache-Control": "private, no-store",
        "Referrer-Policy": "no-referrer",
    }
    return Response("", status_code=302, headers=headers)


@routes.route(_UNSUBSCRIBE, methods=["GET", "HEAD"], content_types=[])
@operation(
    tag=_TAG,
    description="Returns a page that asks for a confirmation. The request changes nothing.",
    parameters=_TOKEN,
    returns="The page.",
    media_types=(_HTML,),
    missing="unsubscribe link",
)
def show_unsubscribe_page() -> Response:
    """Show the unsubscribe page."""
    from chalicelib.services.solicitation.suppressions import require_unsubscribe_token

    return _unsubscribe_page(require_unsubscribe_token, asks=True)


@routes.route(_UNSUBSCRIBE, methods=["POST"], content_types=[])
@operation(
    tag=_TAG,
    description="Unsubscribes the recipient of a message from further messages to the same address"
    " or phone number. Mail clients send this request after one click (RFC 8058). The body is"
    " ignored, and a repeated request succeeds.",
    parameters=_TOKEN,
    returns="A page that confirms the request.",
    media_types=(_HTML,),
    status=200,
    missing="unsubscribe link",
)
def unsubscribe() -> Response:
    """Unsubscribe."""
    from chalicelib.services.solicitation import suppressions as service

    return _unsubscribe_page(service.unsubscribe, asks=False)


add_preflight_route(routes, _UNSUBSCRIBE, "GET", "POST")


def _unsubscribe_page(use: "Callable[[str], UnsubscribeToken]", *, asks: bool) -> Response:
    """Use the token in the request and return the page with the result, or with a question."""
    from chalicelib.domain.solicitation.words import message_words
    from chalicelib.web.pages.html import page_response
    from chalicelib.web.pages.words import page_language

    request = PublicRequest(routes.current_request)
    respondent = request.respondent
    words = message_words(page_language(respondent.language, respondent.accept_language))
    form, status, headers = None, 200, {}
    try:
        token = use(query.text(request.http, "token") or "")
        form, text = _sender(request, token), words.question if asks else words.done
    except NotFound:
        status, text = 404, words.invalid
    except Unavailable as error:
        if not asks:
            logger.warning("unsubscribe failed", reason=str(error))
        status, text, headers = 503, words.failed, {"Retry-After": "60"}
    return page_response(
        "unsubscribe.html",
        words.language,
        form,
        status,
        headers,
        is_framed=False,
        title=words.unsubscribe if asks or status != 200 else words.unsubscribed,
        text=text,
        asks=asks and status == 200,
        is_done=status == 200,
    )


def _sender(request: PublicRequest, token: "UnsubscribeToken") -> "PublicSurvey | None":
    """Return the survey of the message, whose brand a person recognizes.

    Mail clients that unsubscribe after one click display no page.
    """
    from chalicelib.services.forms.pages import get_sent_survey

    if not request.accepts_html:
        return None
    with suppress(NotFound, Unavailable):
        return get_sent_survey(token.survey_id, token.store_id, request.respondent)
    return None
