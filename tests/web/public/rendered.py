"""Render the page of a form without AWS."""

from collections.abc import Mapping, Sequence

from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.public.contact_form import build_public_contact_form
from chalicelib.domain.forms.public.survey import build_public_survey
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.services.forms.cached_forms import CachedForm
from chalicelib.services.forms.public import DisplayedForm, FormIds
from chalicelib.web.public.form_page import FormState, show_form
from chalicelib.web.public.form_request import FormRequest
from tests.domain.forms.factories import DIRECTORY, FORM


def rendered(form: SavedContactForm, answers: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the HTML of a contact form with these answers by field id."""
    view = build_public_contact_form(form, DIRECTORY, form.language, SurveyContext())
    wanted = FormRequest(is_survey=False, ids=FormIds(form.id))
    displayed = DisplayedForm(CachedForm(form.id, form), view, SurveyContext())
    return str(show_form(wanted, displayed, FormState(answers or {})).body)


def rendered_survey(
    survey: SavedSurvey,
    answers: Mapping[str, Sequence[str]] | None = None,
    errors: Mapping[str, str] | None = None,
) -> str:
    """Return the HTML of a survey with these answers and errors by field key."""
    view = build_public_survey(survey, DIRECTORY, survey.language, SurveyContext())
    displayed = DisplayedForm(CachedForm(FORM, survey), view, SurveyContext())
    ids = {field.key: field.id for field in survey.fields}
    state = FormState(
        {ids[key]: values for key, values in (answers or {}).items()},
        {ids[key]: code for key, code in (errors or {}).items()},
    )
    return str(show_form(FormRequest(is_survey=True, ids=FormIds(FORM)), displayed, state).body)
