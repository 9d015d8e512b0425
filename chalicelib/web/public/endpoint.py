"""What stands before every public endpoint: any origin, no credentials, errors as problems."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from chalice import Blueprint, Response
from chalice.app import Request

from chalicelib.domain.errors import FeedbackError
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.idempotency import read_key
from chalicelib.log import logger
from chalicelib.web import query
from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.problems import problem, unhandled_exception
from chalicelib.web.public.cors import answer_preflight, open_to_any_origin
from chalicelib.web.request_log import request_id_of

if TYPE_CHECKING:
    from chalicelib.services.feedback.submit import Submitter
    from chalicelib.services.forms.cached_forms import Respondent
    from chalicelib.web.public.submission_body import Submission

VIEW_MAX_AGE_S: Final = 60


@dataclass(frozen=True)
class PublicRequest:
    """A request from anybody.

    Attributes:
        http: the request as it came.
    """

    http: Request

    def identifier(self, name: str) -> str:
        """The query parameter of this name, as `query.identifier` reads it."""
        return query.identifier(self.http, name)

    def optional_identifier(self, name: str) -> str | None:
        """The query parameter of this name, as `query.optional_identifier` reads it."""
        return query.optional_identifier(self.http, name)

    @property
    def respondent(self) -> "Respondent":
        """Who asks. The address is the gateway's word, never a header that callers can set."""
        from chalicelib.services.forms.cached_forms import Respondent

        return Respondent(
            language=query.text(self.http, "language"),
            accept_language=self.http.headers.get("accept-language"),
            address=str(self.http.context.get("identity", {}).get("sourceIp") or ""),
        )

    def submitted(self, model: "type[Submission]") -> "tuple[Submission, Submitter]":
        """What was submitted, and by whom.

        Raises:
            UnsupportedMediaType: the body is not declared as multipart.
            InputTooLarge: it is over `MAX_SUBMISSION_BYTES`.
            InvalidInput: it is malformed, a part of it breaks a rule, or the idempotency key is
                none; every fault is listed.
        """
        from chalicelib.domain.feedback.submission import MAX_SUBMISSION_BYTES
        from chalicelib.services.feedback.submit import Submitter
        from chalicelib.web.public.multipart import read_parts
        from chalicelib.web.public.submission_body import submission_in

        with ErrorCollector() as errors:
            key = errors.of(self._idempotency_key, otherwise=None)
            parts = read_parts(self.http, max_bytes=MAX_SUBMISSION_BYTES)
            body = submission_in(parts, model)
        return body.submission, Submitter(
            respondent=self.respondent,
            idempotency_key=key,
            is_honeypot_filled=body.is_honeypot_filled,
        )

    def _idempotency_key(self) -> str | None:
        return read_key(self.http.headers.get(IDEMPOTENCY_HEADER))


PublicView = Callable[[PublicRequest], Response]


def public_route(
    routes: Blueprint, method: str, path: str
) -> Callable[[PublicView], Callable[[], Response]]:
    """Makes a view of a `PublicRequest` a route that pages of any origin may use."""

    def decorate(view: PublicView) -> Callable[[], Response]:
        @functools.wraps(view)
        def endpoint() -> Response:
            return open_to_any_origin(_answer(view, routes.current_request))

        answer_preflight(routes, path, method)
        routed: Callable[[], Response] = routes.route(path, methods=[method], content_types=[])(
            endpoint
        )
        return routed

    return decorate


def _answer(view: PublicView, http: Request) -> Response:
    try:
        return view(PublicRequest(http))
    except FeedbackError as error:
        return problem(error, request_id_of(http))
    except Exception:
        logger.exception("bug", request_id=request_id_of(http))
        return unhandled_exception(request_id_of(http))
