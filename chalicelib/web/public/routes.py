"""The public interface: routes only, each a few lines over a service (interface, section 4).

As on the partners' side, a view imports its service when it is first asked for.
"""

from typing import Final

from chalice import Blueprint, Response

from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.public.cacheable import cacheable
from chalicelib.web.public.endpoint import VIEW_MAX_AGE_S, PublicRequest, public_route

routes = Blueprint(__name__)

_JSON: Final = "application/json"


@public_route(routes, "GET", "/public/contact-form")
def get_public_contact_form(request: PublicRequest) -> Response:
    """Endpoint 10: a contact form as end users get it."""
    from chalicelib.services.forms.view import show_contact_form

    return _view(request, show_contact_form(request.identifier("id"), request.respondent))


@public_route(routes, "POST", "/public/contact-form/submit")
def post_public_contact_form(request: PublicRequest) -> Response:
    """Endpoint 11: what somebody answered to a contact form."""
    from chalicelib.domain.feedback.submission import ContactFormSubmission
    from chalicelib.services.feedback.submit import submit_contact_form

    submission, submitter = request.submitted(ContactFormSubmission)
    submit_contact_form(submission, submitter)
    return Response("", status_code=204, headers={"Cache-Control": "no-store"})


@public_route(routes, "GET", "/public/survey")
def get_public_survey(request: PublicRequest) -> Response:
    """Endpoint 12: a survey as end users get it."""
    from chalicelib.services.forms.view import SurveyRequest, show_survey

    optional = request.optional_identifier
    with ErrorCollector() as errors:
        asked = SurveyRequest(
            survey_id=errors.of(lambda: request.identifier("survey"), otherwise=""),
            tracker_id=errors.of(lambda: optional("tracker"), otherwise=None),
            store_id=errors.of(lambda: optional("store"), otherwise=None),
            brand_id=errors.of(lambda: optional("brand"), otherwise=None),
        )
    view = show_survey(asked, request.respondent)
    if not asked.tracker_id:
        return _view(request, view)
    return Response(
        view,
        status_code=200,
        headers={"Content-Type": _JSON, "Cache-Control": "private, no-store"},
    )


@public_route(routes, "POST", "/public/survey/submit")
def post_public_survey(request: PublicRequest) -> Response:
    """Endpoint 13: what somebody answered to a survey."""
    from chalicelib.domain.feedback.submission import SurveySubmission, SurveySubmitted
    from chalicelib.services.feedback.submit import submit_survey

    submission, submitter = request.submitted(SurveySubmission)
    submitted = SurveySubmitted(redirect_to=submit_survey(submission, submitter).redirect_to)
    return Response(
        submitted.model_dump_json(),
        status_code=201,
        headers={"Content-Type": _JSON, "Cache-Control": "no-store"},
    )


def _view(request: PublicRequest, body: str) -> Response:
    # Which language a form is shown in may follow from the header.
    vary: dict[str, str | list[str]] = {"Vary": "Accept-Language"}
    return cacheable(request.http, body, _JSON, max_age_s=VIEW_MAX_AGE_S, headers=vary)
