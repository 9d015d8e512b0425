"""The form that a page displays: its kind and ids, from the query or from a submission."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from chalicelib.domain.errors import NotFound
from chalicelib.domain.forms.public.contact_form import PublicContactForm
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.ids import parse_id
from chalicelib.domain.schema import WHITE_SPACE
from chalicelib.services.forms.cached_forms import Respondent
from chalicelib.services.forms.public import (
    DisplayedForm,
    SurveyRequest,
    display_contact_form,
    display_survey,
    find_tracker,
)
from chalicelib.web import query
from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.public.endpoint import PublicRequest
from chalicelib.web.public.multipart import Part
from chalicelib.web.public.survey_query import survey_request
from chalicelib.web.query import query_errors

CONTEXT: Final = ("tracker", "store", "brand")


@dataclass(frozen=True)
class FormRequest:
    """A request for the page of a contact form or a survey.

    Attributes:
        has_fixed_store: whether the link to the page contains the store. Otherwise, the respondent
            can select a store.
        loaded_tracker: the tracker, if the request names no survey.
    """

    is_survey: bool
    form_id: str
    tracker: str | None = None
    store: str | None = None
    brand: str | None = None
    has_fixed_store: bool = False
    loaded_tracker: Tracker | None = None

    @classmethod
    def of_query(cls, request: PublicRequest, *, is_survey: bool) -> "FormRequest":
        """Read the request from the query parameters.

        Raises:
            InvalidInput: the form's id is missing, or an id is not a UUID.
        """
        fixed = query.text(request.http, "store") is not None
        if is_survey:
            survey = _tracked_survey(request) or survey_request(request)
            context = (survey.tracker_id, survey.store_id, survey.brand_id)
            return cls(True, survey.survey_id, *context, fixed, survey.tracker)
        optional = partial(query.optional_identifier, request.http)
        with ErrorCollector() as errors:
            return cls(
                False,
                form_id=errors.of(lambda: query.identifier(request.http, "id"), otherwise=""),
                store=errors.of(lambda: optional("store"), otherwise=None),
                brand=errors.of(lambda: optional("brand"), otherwise=None),
                has_fixed_store=fixed,
            )

    @classmethod
    def of_submission(
        cls, request: PublicRequest, parts: Sequence[Part], *, is_survey: bool
    ) -> "FormRequest":
        """Read the request from the parts of a submission. Ignore ids that are not UUIDs."""
        texts = dict(reversed(parts))
        names = ("id", *(CONTEXT if is_survey else CONTEXT[1:]))
        ids = {name: parse_id(texts.get(name, "").strip(WHITE_SPACE)) for name in names}
        tracker, store, brand = (ids.get(name) for name in CONTEXT)
        fixed = query.text(request.http, "store") is not None
        return cls(is_survey, ids["id"] or "", tracker, store, brand, has_fixed_store=fixed)

    def display(
        self, respondent: Respondent
    ) -> DisplayedForm[PublicContactForm] | DisplayedForm[PublicSurvey]:
        """Return the form; see `display_contact_form` and `display_survey`."""
        with query_errors():
            if self.is_survey:
                context = (self.tracker, self.store, self.brand)
                survey = SurveyRequest(self.form_id, *context, self.loaded_tracker)
                return display_survey(survey, respondent)
            return display_contact_form(self.form_id, respondent, self.store, self.brand)


def _tracked_survey(request: PublicRequest) -> SurveyRequest | None:
    """Return the survey of the tracker if the request contains only a tracker, otherwise None.

    One AWS request if the request names only a tracker.

    Raises:
        InvalidInput: the tracker's id is not a UUID.
        NotFound: the tracker does not exist.
    """
    if query.text(request.http, "survey"):
        return None
    tracker_id = query.optional_identifier(request.http, "tracker")
    if tracker_id is None:
        return None
    tracker = find_tracker(tracker_id)
    if tracker is None:
        raise NotFound("survey")
    return SurveyRequest(tracker.survey_id, tracker_id, tracker=tracker)
