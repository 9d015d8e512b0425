"""Return the forms that pages display, with the questionnaires that evaluate their conditions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from chalicelib.domain.feedback.answers import Questionnaire
from chalicelib.domain.forms.access import require_enabled, require_places
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.presentation import Layout
from chalicelib.domain.forms.public.contact_form import PublicContactForm
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.domain.forms.untranslated import untranslated_texts
from chalicelib.domain.language import Language
from chalicelib.services.forms.cached_forms import (
    CachedForm,
    Respondent,
    get_contact_form,
    get_survey,
)
from chalicelib.services.forms.public import (
    SurveyRequest,
    get_public_contact_form,
    survey_in_context,
)

View = TypeVar("View", bound=PublicContactForm | PublicSurvey, covariant=True)


@dataclass(frozen=True)
class DisplayedForm(Generic[View]):
    """The view of a form, and the data that only its page needs.

    Attributes:
        version: the version of the form's wording.
        context: the visit that the form is about.
        untranslated: the language of each text that is in another language than the page.
    """

    view: View
    questionnaire: Questionnaire
    version: str
    context: SurveyContext
    layout: Layout
    untranslated: Mapping[str, Language]

    @classmethod
    def of(
        cls,
        form: CachedForm[SavedContactForm] | CachedForm[SavedSurvey],
        view: View,  # type: ignore[misc] # covariant
        context: SurveyContext,
    ) -> "DisplayedForm[View]":
        """Return the displayed form of a view."""
        saved = form.saved
        return cls(
            view,
            form.questionnaire,
            form.version,
            context,
            saved.layout,
            untranslated_texts(saved, view.language, context.names(view.language)),
        )


def display_contact_form(
    form_id: str,
    respondent: Respondent,
    store_id: str | None = None,
    brand_id: str | None = None,
) -> DisplayedForm[PublicContactForm]:
    """Return the contact form. No AWS request if the form is cached.

    Raises:
        NotFound: the contact form does not exist.
        FormDisabled: the contact form is disabled.
        InvalidInput: the store or the brand does not belong to the form.
    """
    form = get_contact_form(form_id)
    require_enabled(form.saved)
    require_places(form.saved, form.directory, store_id=store_id, brand_id=brand_id)
    view = get_public_contact_form(form_id, respondent, store_id)
    context = SurveyContext.at(form.directory, store_id=store_id)
    return DisplayedForm.of(form, view, context)


def display_survey(request: SurveyRequest, respondent: Respondent) -> DisplayedForm[PublicSurvey]:
    """Return the survey. No AWS request if the survey is cached; with a tracker, two requests.

    Raises:
        FormDisabled: the survey is disabled.
        InvalidInput, TrackerRequired, NotFound, Conflict: see `get_public_survey`.
    """
    view, context = survey_in_context(request, respondent)
    survey = get_survey(request.survey_id)
    require_enabled(survey.saved)
    return DisplayedForm.of(survey, view, context)
