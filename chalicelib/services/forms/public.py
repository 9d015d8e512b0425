"""Return the public views of contact forms and surveys."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import NotFound
from chalicelib.domain.forms.access import require_places, require_public, require_unused
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.public.contact_form import (
    PublicContactForm,
    build_public_contact_form,
)
from chalicelib.domain.forms.public.survey import PublicSurvey, build_public_survey
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.language import Language
from chalicelib.services.caching import cached
from chalicelib.services.forms.cached_forms import (
    CachedForm,
    Respondent,
    get_contact_form,
    get_survey,
)
from chalicelib.storage import purchases, trackers

MAX_CACHED_VIEWS: Final = 256


@dataclass(frozen=True)
class SurveyRequest:
    """A request for the public view of a survey.

    Attributes:
        store_id, brand_id: always validated, but used only if the request has no tracker.
        tracker: the tracker, if it is already loaded.
    """

    survey_id: str
    tracker_id: str | None = None
    store_id: str | None = None
    brand_id: str | None = None
    tracker: Tracker | None = None


def get_public_contact_form(form_id: str, respondent: Respondent) -> PublicContactForm:
    """Return the public view of the contact form. No AWS request if the form is cached.

    Raises:
        NotFound: the contact form does not exist.
    """
    form = get_contact_form(form_id)
    return _contact_form_view(form, form.directory, form.language_for(respondent))


def get_public_survey(request: SurveyRequest, respondent: Respondent) -> PublicSurvey:
    """Return the public view of the survey.

    If the survey is cached, a request without a tracker sends no AWS request; a request with a
    tracker sends two, or one if the tracker is already loaded. Views without a tracker are cached
    too, and identical requests return the same object.

    Raises:
        InvalidInput: the store or the brand does not belong to the account, or the store does not
            belong to the brand.
        TrackerRequired: the survey is private and the request has no tracker.
        NotFound: the survey does not exist, or the tracker does not belong to it.
        Conflict: the tracker is already used.
    """
    survey = get_survey(request.survey_id)
    directory, language = survey.directory, survey.language_for(respondent)
    if not request.tracker_id:
        require_public(survey.saved)
    require_places(survey.saved, directory, store_id=request.store_id, brand_id=request.brand_id)
    if not request.tracker_id:
        return _survey_view(survey, directory, language, request.store_id, request.brand_id)
    found = request.tracker or trackers.find(request.tracker_id)
    tracker = require_unused(found, survey.saved)
    purchase = purchases.find(tracker.account_id, tracker.purchase_id)
    order = purchase.external_id if purchase else ""
    context = SurveyContext.of_tracker(directory, tracker, order)
    return build_public_survey(survey.saved, directory, language, context)


def get_submitted_survey(survey_id: str, respondent: Respondent) -> PublicSurvey:
    """Return the survey to display after a submission. No AWS request if the survey is cached.

    Access is not checked: the submission was accepted, and its tracker is now used.

    Raises:
        NotFound: the survey does not exist.
    """
    survey = get_survey(survey_id)
    return _survey_view(survey, survey.directory, survey.language_for(respondent), None, None)


def reject_private_survey(survey_id: str) -> None:
    """Reject an invalid request without a tracker if the survey is private.

    A private survey must not report other errors of such a request. No AWS request if the survey is
    cached.

    Raises:
        TrackerRequired: the survey is private.
    """
    with suppress(NotFound):
        require_public(get_survey(survey_id).saved)


@cached(at_most=MAX_CACHED_VIEWS)
def _contact_form_view(
    form: CachedForm[SavedContactForm], directory: Directory, language: Language
) -> PublicContactForm:
    return build_public_contact_form(form.saved, directory, language)


@cached(at_most=MAX_CACHED_VIEWS)
def _survey_view(
    survey: CachedForm[SavedSurvey],
    directory: Directory,
    language: Language,
    store_id: str | None,
    brand_id: str | None,
) -> PublicSurvey:
    context = SurveyContext.of_request(
        survey.saved, directory, store_id=store_id, brand_id=brand_id
    )
    return build_public_survey(survey.saved, directory, language, context)
