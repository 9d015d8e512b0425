"""Find and change saved contact forms and surveys, and return the base URL of their pages."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from admin.domain.enabled import with_enabled
from admin.storage import forms
from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound, UnreadableForm
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.paging import all_pages
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.forms.saved import is_archived, read_saved
from chalicelib.storage import stage_values
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.forms import TABLES, FormRow, StoredForm

SavedForm = SavedContactForm | SavedSurvey

_MODELS: Final[dict[FormKind, type[SavedForm]]] = {
    FormKind.CONTACT_FORM: SavedContactForm,
    FormKind.SURVEY: SavedSurvey,
}
_RESOURCES: Final = {FormKind.CONTACT_FORM: "contact form", FormKind.SURVEY: "survey"}


@dataclass(frozen=True)
class AccountForm:
    """A saved form, the account that owns it and its number of submissions."""

    account_id: str
    kind: FormKind
    saved: SavedForm
    submission_count: int


def find_form(kind: FormKind, form_id: str) -> AccountForm | None:
    """Return a form of any account, or None if it does not exist. One AWS request.

    Raises:
        UnreadableForm: this version of the service cannot read the form.
    """
    stored = TABLES[kind].find(form_id)
    return _form(kind, stored) if stored else None


def _form(kind: FormKind, stored: StoredForm) -> AccountForm:
    """Build a form from its stored document.

    Raises:
        UnreadableForm: this version of the service cannot read the form.
    """
    saved = read_saved(_MODELS[kind], stored)
    return AccountForm(stored.account_id, kind, saved, stored.submission_count)


def require_form(kind: FormKind, form_id: str, *, account_id: str | None) -> AccountForm:
    """Return a form of an account, or of any account if it is None. One AWS request.

    Raises:
        NotFound: the form does not exist, or belongs to another account.
        UnreadableForm: this version of the service cannot read the form.
    """
    form = find_form(kind, form_id)
    if form is None or account_id not in (None, form.account_id):
        raise NotFound(_RESOURCES[kind])
    return form


def name_of_form(kind: FormKind, form_id: str) -> str:
    """Return the name of a form; the id if it does not exist or cannot be read. One AWS request."""
    try:
        form = find_form(kind, form_id)
    except UnreadableForm:
        return form_id
    return form.saved.name if form else form_id


def list_forms(
    account_id: str, kind: FormKind, on_unreadable: Callable[[str], object] = lambda _: None
) -> Iterator[AccountForm]:
    """Yield the account's readable forms of a kind, oldest first. Three AWS requests per 100 forms.

    Args:
        on_unreadable: called with the id of each form that this version of the service cannot read,
            unless the form is archived.
    """
    for page, _ in all_pages(partial(TABLES[kind].page, account_id)):
        for stored in page:
            try:
                form = _form(kind, stored)
            except UnreadableForm:
                if not is_archived(stored.document):
                    on_unreadable(stored.form_id)
            else:
                yield form


def set_form_enabled(
    kind: FormKind, form_id: str, *, is_enabled: bool, archives: bool = False
) -> str:
    """Enable or disable a form. The change takes effect within a minute. Two AWS requests.

    An enabled form is no longer archived. A form that cannot be read can be disabled and archived.

    Args:
        archives: whether to hide the disabled form from the operators' lists.

    Returns:
        The name of the form.

    Raises:
        NotFound: the form does not exist.
        UnreadableForm: this version of the service cannot read the form that it should enable.
    """

    def change(form: SavedForm) -> SavedForm:
        archived = archives or (form.archived and not is_enabled)
        return with_enabled(form, is_enabled).model_copy(update={"archived": archived})

    try:
        return change_form(kind, form_id, change).name
    except UnreadableForm:
        if is_enabled:
            raise
    return commit(partial(_disable_unreadable, kind, form_id, archives))


def _disable_unreadable(kind: FormKind, form_id: str, archives: bool, rows: Rows) -> str:
    row = _fetch(rows, kind, form_id)
    document, now = json.loads(row.document), format_timestamp(clock.now())
    changes = {"enabled": False, "updatedAt": now, **({"archived": True} if archives else {})}
    row.document = json.dumps({**document, **changes}, ensure_ascii=False).encode()
    return str(document.get("name", form_id))


def change_form(
    kind: FormKind, form_id: str, change: Callable[[SavedForm], SavedForm]
) -> SavedForm:
    """Change a saved form and return it. Two AWS requests, or one if nothing changes.

    Args:
        change: returns the changed form. It is called again if the form changes in the meantime, so
            that concurrent changes are not lost.

    Raises:
        NotFound: the form does not exist.
        UnreadableForm: this version of the service cannot read the form.
    """
    return commit(partial(_change_form, kind, form_id, change))


def _change_form(
    kind: FormKind, form_id: str, change: Callable[[SavedForm], SavedForm], rows: Rows
) -> SavedForm:
    row = _fetch(rows, kind, form_id)
    form = read_saved(_MODELS[kind], row)
    changed = change(form)
    if changed != form:
        row.document = changed.model_dump_json().encode()
    return changed


def _fetch(rows: Rows, kind: FormKind, form_id: str) -> FormRow:
    row = forms.fetch(rows, TABLES[kind], form_id)
    if row is None:
        raise NotFound(_RESOURCES[kind])
    return row


def public_base_url() -> str:
    """Return the public base URL of the stage. One AWS request if it is not cached.

    Raises:
        Unavailable: no URL is stored, or Systems Manager does not respond.
    """
    return stage_values.public_base_url()
