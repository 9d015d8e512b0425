"""The routes of the public interface (section 4).

Each view imports its service on its first request, which keeps the start-up time short.
"""

from typing import TYPE_CHECKING, Final

from chalice import Blueprint, Response

from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.public.cacheable import cacheable
from chalicelib.web.public.endpoint import VIEW_MAX_AGE_S, PublicRequest, public_route
from chalicelib.web.query import query_errors

if TYPE_CHECKING:
    from chalicelib.domain.forms.public.form import PublicForm

routes = Blueprint(__name__)

_JSON: Final = "application/json"


@public_route(routes, "GET", "/public/contact-form")
def view_contact_form(request: PublicRequest) -> Response:
    """Endpoint 10: return a contact form as respondents see it."""
    from chalicelib.services.forms.public import get_public_contact_form

    return _cacheable(
        request, get_public_contact_form(request.identifier("id"), request.respondent)
    )


@public_route(routes, "POST", "/public/contact-form/submit")
def submit_contact_form(request: PublicRequest) -> Response:
    """Endpoint 11: accept a submission to a contact form."""
    from chalicelib.domain.feedback.submission import ContactFormSubmission
    from chalicelib.services.feedback import submit

    submit.submit_contact_form(*request.submission(ContactFormSubmission))
    return Response("", status_code=204, headers={"Cache-Control": "no-store"})


@public_route(routes, "GET", "/public/survey")
def view_survey(request: PublicRequest) -> Response:
    """Endpoint 12: return a survey as respondents see it."""
    from chalicelib.services.forms.public import SurveyRequest, get_public_survey

    optional = request.optional_identifier
    with ErrorCollector() as errors:
        survey_request = SurveyRequest(
            survey_id=errors.of(lambda: request.identifier("survey"), otherwise=""),
            tracker_id=errors.of(lambda: optional("tracker"), otherwise=None),
            store_id=errors.of(lambda: optional("store"), otherwise=None),
            brand_id=errors.of(lambda: optional("brand"), otherwise=None),
        )
    with query_errors():
        survey = get_public_survey(survey_request, request.respondent)
    if not survey_request.tracker_id:
        return _cacheable(request, survey)
    return Response(
        survey.model_dump_json(),
        status_code=200,
        headers={"Content-Type": _JSON, "Cache-Control": "private, no-store"},
    )


@public_route(routes, "POST", "/public/survey/submit")
def submit_survey(request: PublicRequest) -> Response:
    """Endpoint 13: accept a submission to a survey."""
    from chalicelib.domain.feedback.submission import SurveySubmission, SurveySubmitted
    from chalicelib.services.feedback import submit

    feedback = submit.submit_survey(*request.submission(SurveySubmission))
    return Response(
        SurveySubmitted(redirect_to=feedback.redirect_to).model_dump_json(),
        status_code=201,
        headers={"Content-Type": _JSON, "Cache-Control": "no-store"},
    )


def _cacheable(request: PublicRequest, view: "PublicForm") -> Response:
    from chalicelib.web.public.view_text import view_text

    # The header may determine the language of the view.
    vary: dict[str, str | list[str]] = {"Vary": "Accept-Language"}
    return cacheable(request.http, view_text(view), _JSON, max_age_s=VIEW_MAX_AGE_S, headers=vary)
