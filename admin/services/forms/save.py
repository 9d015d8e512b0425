"""Create or replace contact forms and surveys from definitions."""

from typing import Any, TypeVar

from admin.domain.forms.contact_form import (
    build_contact_form,
    parse_contact_form_definition,
)
from admin.domain.forms.survey import build_survey, parse_survey_definition
from chalicelib.domain import clock
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.wording import FormWording
from chalicelib.storage import places
from chalicelib.storage.contact_forms import contact_forms
from chalicelib.storage.forms import FormTable
from chalicelib.storage.surveys import surveys

Saved = TypeVar("Saved", SavedContactForm, SavedSurvey)


def save_contact_form(account_id: str, definition: Any) -> SavedContactForm:
    """Create the contact form, or replace the existing contact form with the same id.

    Raises:
        InvalidInput: the definition is invalid.
        InputTooLarge: the contact form exceeds its size limit.
        Conflict: the id belongs to another account.
    """
    directory = places.load_directory(account_id)
    parsed = parse_contact_form_definition(definition, directory)
    earlier = _earlier(contact_forms, account_id, parsed.id, SavedContactForm)
    form = build_contact_form(parsed, directory, clock.now(), earlier)
    _save(contact_forms, account_id, form, earlier)
    return form


def save_survey(account_id: str, definition: Any) -> SavedSurvey:
    """Create the survey, or replace the existing survey with the same id.

    Raises:
        InvalidInput: the definition is invalid.
        InputTooLarge: the survey exceeds its size limit.
        Conflict: the id belongs to another account.
    """
    directory = places.load_directory(account_id)
    parsed = parse_survey_definition(definition, directory)
    earlier = _earlier(surveys, account_id, parsed.id, SavedSurvey)
    survey = build_survey(parsed, directory, clock.now(), earlier)
    _save(surveys, account_id, survey, earlier)
    return survey


def _save(table: FormTable, account_id: str, form: Saved, earlier: Saved | None) -> None:
    """Save a form with the version of its wording.

    A form of an earlier release of the service has no version until it is replaced.
    """
    wordings = [FormWording.of(saved) for saved in (form, earlier) if saved]
    versions = {wording.version: wording.content() for wording in wordings}
    table.save(account_id, form.id, form.model_dump_json().encode(), versions)


def _earlier(table: FormTable, account_id: str, form_id: str, model: type[Saved]) -> Saved | None:
    stored = table.find(form_id)
    if stored is None or stored.account_id != account_id:
        return None
    return model.model_validate_json(stored.document)
