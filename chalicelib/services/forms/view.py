"""Showing contact forms and surveys to end users (interface, endpoints 10 and 12)."""

from dataclasses import dataclass

from chalicelib.domain.forms.public.contact_form import show_contact_form as contact_form_view
from chalicelib.domain.forms.public.survey import show_survey as survey_view
from chalicelib.domain.forms.survey import Channel
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.services.forms import cached_forms as held_forms
from chalicelib.services.forms.cached_forms import Respondent
from chalicelib.services.forms.survey_access import require_fresh, require_places, require_public
from chalicelib.storage import purchases, trackers


@dataclass(frozen=True)
class SurveyRequest:
    """Which survey somebody wants to see, and on what occasion.

    Attributes:
        store_id, brand_id: only count without a tracker.
    """

    survey_id: str
    tracker_id: str | None = None
    store_id: str | None = None
    brand_id: str | None = None


def show_contact_form(form_id: str, respondent: Respondent) -> str:
    """The contact form's public view, as JSON. No request to AWS while the form is held.

    Raises:
        NotFound: there is no such contact form.
    """
    form = held_forms.contact_form(form_id)
    language = form.language_for(respondent)
    return form.view(
        language,
        lambda directory: contact_form_view(form.saved, directory, language).model_dump_json(),
    )


def show_survey(request: SurveyRequest, respondent: Respondent) -> str:
    """The survey's public view on this occasion, as JSON.

    No request to AWS while the survey is held; two with a tracker.

    Raises:
        InvalidInput: store or brand are not the account's.
        NotAllowed: the survey is private and there is no tracker.
        NotFound: there is no such survey, or no such tracker of it.
        Conflict: the tracker was used.
    """
    form = held_forms.survey(request.survey_id)
    language = form.language_for(respondent)
    directory = form.directory
    require_places(directory, "?", store_id=request.store_id, brand_id=request.brand_id)
    if request.tracker_id:
        tracker = require_fresh(trackers.find(request.tracker_id), form.saved)
        purchase = purchases.find(tracker.account_id, tracker.purchase_id)
        context = SurveyContext.at(
            directory,
            store_id=tracker.store_id,
            order=purchase.external_id if purchase else "",
            send_mode=Channel(tracker.send_mode),
        )
        return survey_view(form.saved, directory, language, context).model_dump_json()
    require_public(form.saved)
    context = SurveyContext.at(directory, store_id=request.store_id, brand_id=request.brand_id)
    return form.view(
        (language, request.store_id, request.brand_id),
        lambda directory: survey_view(form.saved, directory, language, context).model_dump_json(),
    )
