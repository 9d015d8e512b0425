"""Build the feedback record of a submission."""

from datetime import datetime

from chalicelib.domain.feedback.answers import ValidatedAnswers
from chalicelib.domain.feedback.feedback import SOURCES, Feedback, FormKind
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.survey_context import SurveyContext, redirect_to
from chalicelib.domain.language import Language


def build_feedback(
    feedback_id: str,
    account_id: str,
    form: SavedContactForm | SavedSurvey,
    context: SurveyContext,
    answers: ValidatedAnswers,
    language: Language,
    created_at: datetime,
    *,
    form_version: str,
    displayed_version: str | None,
) -> Feedback:
    """Build the feedback record of a submission.

    Args:
        context: the store, brand, purchase and channel. For a contact form, only the store is used,
            because the form determines the brand.
        form_version: the version of the form.
        displayed_version: the version that the submission names.
    """
    tracker = context.tracker
    if isinstance(form, SavedSurvey):
        kind = FormKind.SURVEY
        brand_id = context.brand.id if context.brand else None
        redirect = redirect_to(form, context, answers.rating)
    else:
        kind, brand_id, redirect = FormKind.CONTACT_FORM, form.brand_id, ""
    return Feedback(
        id=feedback_id,
        account_id=account_id,
        kind=kind,
        form_id=form.id,
        brand_id=brand_id,
        store_id=context.store_id,
        tracker_id=tracker.id if tracker else None,
        purchase_id=tracker.purchase_id if tracker else None,
        customer_id=tracker.customer_id if tracker else None,
        language=language,
        source=SOURCES[kind],
        context_id=(tracker.id if tracker else None) or context.store_id or brand_id or form.id,
        answers=tuple(answers.answers),
        rating=answers.rating,
        form_version=form_version,
        displayed_version=displayed_version if displayed_version != form_version else None,
        redirect_to=redirect,
        created_at=created_at,
    )
