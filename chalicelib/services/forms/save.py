"""Create and replace contact forms and surveys from operators' definitions."""

from typing import Any, TypeVar

from chalicelib.domain import clock
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.definitions import contact_form as contact_form_document
from chalicelib.domain.forms.definitions import survey as survey_document
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.storage import places
from chalicelib.storage.contact_forms import contact_forms
from chalicelib.storage.forms import FormTable
from chalicelib.storage.surveys import surveys

Saved = TypeVar("Saved", SavedContactForm, SavedSurvey)


def save_contact_form(account_id: str, definition: Any) -> SavedContactForm:
    """Create the contact form of the definition, or replace the one with its id.

    Raises:
        InvalidInput: The definition is invalid; every error is listed.
        InputTooLarge: The form exceeds its size limit.
        Conflict: The id belongs to another account.
    """
    directory = places.directory(account_id, consistent=True)
    form = contact_form_document.read_contact_form(definition, directory)
    earlier = _earlier(contact_forms, account_id, form.id, SavedContactForm)
    saved = contact_form_document.save_contact_form(form, clock.now(), earlier)
    contact_forms.put(account_id, form.id, saved.model_dump_json().encode())
    return saved


def save_survey(account_id: str, definition: Any) -> SavedSurvey:
    """Create the survey of the definition, or replace the one with its id.

    Raises:
        InvalidInput: The definition is invalid; every error is listed.
        InputTooLarge: The survey exceeds its size limit.
        Conflict: The id belongs to another account.
    """
    directory = places.directory(account_id, consistent=True)
    survey = survey_document.read_survey(definition, directory)
    earlier = _earlier(surveys, account_id, survey.id, SavedSurvey)
    saved = survey_document.save_survey(survey, clock.now(), earlier)
    surveys.put(account_id, survey.id, saved.model_dump_json().encode())
    return saved


def _earlier(table: FormTable, account_id: str, form_id: str, model: type[Saved]) -> Saved | None:
    stored = table.find(form_id, consistent=True)
    if stored is None or stored.account_id != account_id:
        return None
    return model.model_validate_json(stored.document)
