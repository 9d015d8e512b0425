"""Return the forms that pages display: for answers, after a submission, or without questions."""

from dataclasses import replace
from typing import Any

from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.forms.access import require_open, require_places
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.public.contact_form import PublicContactForm
from chalicelib.domain.forms.public.form import thanks_for
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.services.forms.cached_forms import Respondent, get_contact_form, get_survey
from chalicelib.services.forms.public import (
    DisplayedForm,
    FormIds,
    contact_form_view,
    get_public_contact_form,
    get_public_survey,
    survey_view,
    view_of_purchase,
)


def display_contact_form(ids: FormIds, respondent: Respondent) -> DisplayedForm[PublicContactForm]:
    """Return the contact form for its page. No AWS request if the form is cached.

    Raises:
        NotFound: the contact form does not exist.
        FormClosed: the contact form is disabled, closed or not open yet.
        InvalidInput: the store or the brand does not belong to the form.
    """
    form = get_contact_form(ids.form_id or "")
    require_open(form.saved)
    require_places(form.saved, form.directory, store_id=ids.store_id, brand_id=ids.brand_id)
    return contact_form_view(form, respondent, ids.store_id)


def display_survey(ids: FormIds, respondent: Respondent) -> DisplayedForm[PublicSurvey]:
    """Return the survey for its page. No AWS request if it is cached; with a tracker, two requests.

    Raises:
        FormClosed: the survey is disabled, closed or not open yet.
        InvalidInput, TrackerRequired, NotFound, Conflict: see `get_public_survey`.
    """
    survey = get_public_survey(ids, respondent)
    require_open(survey.cached.saved)
    return survey


def get_submitted_form(
    feedback: Feedback, respondent: Respondent
) -> DisplayedForm[PublicContactForm] | DisplayedForm[PublicSurvey]:
    """Return the form to display after a submission, with the texts that fit the rating.

    Access is not checked: the submission was accepted, and its tracker is now used. No AWS request
    if the form is cached; one if a text of a survey contains the date or the first name.

    Raises:
        NotFound: the form does not exist.
    """
    if feedback.kind is FormKind.SURVEY:
        return _thanking(_submitted_survey(feedback, respondent), feedback)
    form = get_public_contact_form(feedback.form_id, respondent, feedback.store_id)
    return _thanking(form, feedback)


def _submitted_survey(feedback: Feedback, respondent: Respondent) -> DisplayedForm[PublicSurvey]:
    survey = get_survey(feedback.form_id)
    language = survey.language_for(respondent)
    places = (feedback.store_id, feedback.brand_id)
    if feedback.purchase_id and survey.placeholders & {"date", "firstName"}:
        context = SurveyContext.at(survey.directory, store_id=places[0], brand_id=places[1])
        return view_of_purchase(
            survey, language, context, feedback.purchase_id, feedback.customer_id
        )
    return survey_view(survey, language, *places)


def _thanking(form: DisplayedForm[Any], feedback: Feedback) -> DisplayedForm[Any]:
    """Return the form with the thank-you texts for the rating of the feedback."""
    view, names = form.view, form.context.names(form.view.language)
    texts = thanks_for(form.cached.saved, view.submission, view.language, feedback.rating, names)
    return replace(form, view=view.model_copy(update={"submission": texts}))


def get_closed_form(form: SavedForm, respondent: Respondent) -> PublicContactForm | PublicSurvey:
    """Return the view of a form that displays no questions. No AWS request if it is cached.

    Raises:
        NotFound: the form does not exist.
    """
    if isinstance(form, SavedSurvey):
        return get_sent_survey(form.id, None, respondent)
    return get_public_contact_form(form.id, respondent).view


def get_sent_survey(survey_id: str, store_id: str | None, respondent: Respondent) -> PublicSurvey:
    """Return the view of a survey that was sent about a store, without checking access.

    No AWS request if the survey is cached.

    Raises:
        NotFound: the survey does not exist.
    """
    survey = get_survey(survey_id)
    language = survey.language_for(respondent)
    return survey_view(survey, language, store_id, None).view
