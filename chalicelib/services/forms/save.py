"""Creating and replacing contact forms and surveys from operators' documents."""

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


def save_contact_form(account_id: str, document: Any) -> SavedContactForm:
    """Creates the contact form that the document describes, or replaces the one with its id.

    Raises:
        InvalidInput: the document breaks a rule; every fault is listed.
        InputTooLarge: the saved form would be over its size limit.
        Conflict: the id is another account's.
    """
    directory = places.load_directory(account_id, consistent=True)
    form = contact_form_document.read_contact_form(document, directory)
    earlier = _earlier(contact_forms, account_id, form.id, SavedContactForm)
    saved = contact_form_document.save_contact_form(form, clock.now(), earlier)
    contact_forms.save(account_id, form.id, saved.model_dump_json().encode())
    return saved


def save_survey(account_id: str, document: Any) -> SavedSurvey:
    """Creates the survey that the document describes, or replaces the one with its id.

    Raises:
        InvalidInput: the document breaks a rule; every fault is listed.
        InputTooLarge: the saved survey would be over its size limit.
        Conflict: the id is another account's.
    """
    directory = places.load_directory(account_id, consistent=True)
    survey = survey_document.read_survey(document, directory)
    earlier = _earlier(surveys, account_id, survey.id, SavedSurvey)
    saved = survey_document.save_survey(survey, clock.now(), earlier)
    surveys.save(account_id, survey.id, saved.model_dump_json().encode())
    return saved


def _earlier(table: FormTable, account_id: str, form_id: str, model: type[Saved]) -> Saved | None:
    stored = table.find(form_id, consistent=True)
    if stored is None or stored.account_id != account_id:
        return None
    return model.model_validate_json(stored.document)
