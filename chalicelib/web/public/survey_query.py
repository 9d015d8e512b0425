"""Parse the query parameters of a survey's view and of its page."""

from functools import partial

from chalicelib.domain.errors import InvalidInput
from chalicelib.services.forms.cached_forms import reject_private_survey
from chalicelib.services.forms.public import SurveyRequest
from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.public.endpoint import PublicRequest
from chalicelib.web.query import identifier, optional_identifier, text


def survey_request(request: PublicRequest) -> SurveyRequest:
    """Return the requested survey, with its tracker, store and brand.

    Raises:
        InvalidInput: the survey's id is missing, or an id is not a UUID.
        TrackerRequired: the survey is private, and the request has invalid parameters and no
            tracker.
    """
    optional = partial(optional_identifier, request.http)
    survey_id = ""
    try:
        with ErrorCollector() as errors:
            survey_id = errors.of(lambda: identifier(request.http, "survey"), otherwise="")
            return SurveyRequest(
                survey_id=survey_id,
                tracker_id=errors.of(lambda: optional("tracker"), otherwise=None),
                store_id=errors.of(lambda: optional("store"), otherwise=None),
                brand_id=errors.of(lambda: optional("brand"), otherwise=None),
            )
    except InvalidInput:
        if not text(request.http, "tracker"):
            reject_private_survey(survey_id)
        raise
