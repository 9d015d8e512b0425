"""The routes of links in messages: the unsubscribe page, and the short link to a survey.

Mail scanners open every link, so GET and HEAD requests change nothing.
"""

from typing import TYPE_CHECKING, Final

from chalice import Blueprint, Response
from chalice.app import Request

from chalicelib.domain.errors import NotFound, Unavailable
from chalicelib.log import logger
from chalicelib.web import query
from chalicelib.web.cors import add_preflight_route
from chalicelib.web.openapi.operation import operation
from chalicelib.web.request_log import request_id_of

if TYPE_CHECKING:
    from chalicelib.domain.solicitation.words import Words

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
    id="openShortLink",
    tag=_TAG,
    summary="Open the short link of a text message",
    description="Redirects to the page of the survey.",
    parameters={"code": "The tracker as 22 base64url characters."},
    returns="The redirect.",
    status=302,
    errors=(404,),
)
def open_short_link(code: str) -> Response:
    """Redirect to the survey page. No AWS request."""
    from chalicelib.domain.solicitation.links import parse_short_tracker
    from chalicelib.web.problems import problem

    tracker_id = parse_short_tracker(code)
    if tracker_id is None:
        return problem(NotFound("survey link"), request_id_of(routes.current_request))
    # The target is relative, so that it also works below the path of a stage or a custom domain.
    headers: dict[str, str | list[str]] = {
        "Location": f"../public/survey/page?tracker={tracker_id}",
        "Cache-Control": "private, no-store",
        "Referrer-Policy": "no-referrer",
    }
    return Response("", status_code=302, headers=headers)


@routes.route(_UNSUBSCRIBE, methods=["GET", "HEAD"], content_types=[])
@operation(
    id="showUnsubscribePage",
    tag=_TAG,
    summary="Show the unsubscribe page",
    description="Returns a page that asks for a confirmation. The request changes nothing.",
    parameters=_TOKEN,
    returns="The page.",
    media_types=(_HTML,),
    errors=(404,),
)
def show_unsubscribe_page() -> Response:
    """Return the page that asks for a confirmation."""
    from chalicelib.services.solicitation.unsubscribe import require_unsubscribe_token

    request = routes.current_request
    words = _words(request)
    try:
        require_unsubscribe_token(_token(request))
    except NotFound:
        return _page(words, words.invalid, 404)
    except Unavailable:
        return _page(words, words.failed, 503)
    return _page(words, words.question, 200, asks=True)


@routes.route(_UNSUBSCRIBE, methods=["POST"], content_types=[])
@operation(
    id="unsubscribe",
    tag=_TAG,
    summary="Unsubscribe",
    description="Unsubscribes the recipient of a message from further messages to the same address"
    " or phone number. Mail clients send this request after one click (RFC 8058). The body is"
    " ignored, and a repeated request succeeds.",
    parameters=_TOKEN,
    returns="A page that confirms the request.",
    media_types=(_HTML,),
    status=200,
    errors=(404,),
)
def unsubscribe() -> Response:
    """Unsubscribe the recipient of a message."""
    from chalicelib.services.solicitation import unsubscribe as service

    request = routes.current_request
    words = _words(request)
    try:
        service.unsubscribe(_token(request))
    except NotFound:
        return _page(words, words.invalid, 404)
    except Unavailable as error:
        logger.warning("unsubscribe failed", reason=str(error))
        return _page(words, words.failed, 503)
    return _page(words, words.done, 200)


add_preflight_route(routes, _UNSUBSCRIBE, "GET", "POST")


def _token(request: Request) -> str:
    return query.text(request, "token") or ""


def _words(request: Request) -> "Words":
    from chalicelib.domain.forms.language_choice import choose_language
    from chalicelib.domain.solicitation.words import ENGLISH, WORDS

    language = choose_language(
        ENGLISH,
        WORDS.keys(),
        requested_range=query.text(request, "language"),
        accept_language=request.headers.get("accept-language"),
    )
    return WORDS[language]


def _page(words: "Words", text: str, status: int, *, asks: bool = False) -> Response:
    from chalicelib.domain.solicitation.mail_content import direction
    from chalicelib.web.pages.page import environment, security_headers
    from chalicelib.web.problems import HTML

    html = (
        environment()
        .get_template("unsubscribe.html")
        .render(words=words, direction=direction(words.language), text=text, asks=asks)
    )
    headers = security_headers(html, form_action="'self'") | {
        "Content-Type": HTML,
        "Cache-Control": "private, no-store",
    }
    if status == 503:
        headers["Retry-After"] = "60"
    return Response(html, status_code=status, headers=headers)
