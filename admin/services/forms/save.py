"""Create or replace contact forms and surveys from definitions."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from admin.domain.forms.contact_form import define_contact_form
from admin.domain.forms.survey import define_survey
from admin.storage.forms import save
from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.wording import FormWording
from chalicelib.storage import places
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.forms import FormTable, contact_forms, surveys

Saved = TypeVar("Saved", SavedContactForm, SavedSurvey)


def save_contact_form(
    account_id: str,
    definition: Any,
    operator: str | None = None,
    check: Callable[[SavedContactForm | None], object] = lambda _: None,
) -> SavedContactForm:
    """Create the contact form, or replace the existing contact form with the same id.

    Args:
        operator: the identity of the operator, for the history. None for data of the
            service itself, such as demo data.
        check: called with the stored contact form before it is replaced, or with None. If it raises
            an exception, nothing is saved.

    Raises:
        InvalidInput: the definition is invalid.
        RecordTooLarge: the contact form exceeds its size limit.
        Conflict: the id belongs to another account.
    """
    return _save(
        contact_forms,
        SavedContactForm,
        "contactForm",
        account_id,
        definition,
        operator,
        define_contact_form,
        check,
    )


def save_survey(
    account_id: str,
    definition: Any,
    operator: str | None = None,
    check: Callable[[SavedSurvey | None], object] = lambda _: None,
) -> SavedSurvey:
    """Create the survey, or replace the existing survey with the same id.

    The arguments and the errors are those of `save_contact_form`.
    """
    return _save(
        surveys, SavedSurvey, "survey", account_id, definition, operator, define_survey, check
    )


def _save(
    table: FormTable,
    model: type[Saved],
    kind: str,
    account_id: str,
    definition: Any,
    operator: str | None,
    build: Callable[[Any, Directory, datetime, Saved | None], Saved],
    check: Callable[[Saved | None], object],
) -> Saved:
    """Build the form from the definition and the stored form, and save it if it has changed.

    If the form changes in the meantime, it is built again, so that no concurrent change is lost.
    The versions of its wording and of the wording of the stored form are saved too: a later release
    of the service can compute another version for the same form.
    """
    directory = places.load_directory(account_id)

    def attempt() -> Saved:
        form_id = build(definition, directory, clock.now(), None).id
        stored = table.find(form_id)
        own = stored if stored and stored.account_id == account_id else None
        earlier = model.model_validate_json(own.document) if own else None
        now = clock.now()
        form = build(definition, directory, now, earlier)
        if form == earlier:
            return form
        check(earlier)
        change = operator and AccountChange(
            now,
            f"{kind} {form.id}",
            operator,
            json.loads(own.document) if own else None,
            {"name": form.name},
        )
        wordings = [FormWording.of(saved) for saved in (form, earlier) if saved]
        versions = {wording.version: wording.content() for wording in wordings}
        document = form.model_dump_json().encode()
        save(table, account_id, form.id, document, versions, own, [change] if change else [])
        return form

    return retry_on_contention(attempt)
