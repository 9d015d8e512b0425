"""Load saved contact forms and surveys for the command line."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.paging import MAX_LIMIT, PageRequest
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.forms.tables import TABLES
from chalicelib.storage.forms import StoredForm

_MODELS: Final[dict[FormKind, type[SavedContactForm] | type[SavedSurvey]]] = {
    FormKind.CONTACT_FORM: SavedContactForm,
    FormKind.SURVEY: SavedSurvey,
}
_RESOURCES: Final = {FormKind.CONTACT_FORM: "contact form", FormKind.SURVEY: "survey"}


@dataclass(frozen=True)
class AccountForm:
    """A saved form, the account that owns it and its number of submissions."""

    account_id: str
    kind: FormKind
    saved: SavedContactForm | SavedSurvey
    submission_count: int


def find_form(kind: FormKind, form_id: str) -> AccountForm | None:
    """Return a form of any account, or None if it does not exist. One AWS request."""
    stored = TABLES[kind].find(form_id)
    return _form(kind, stored) if stored else None


def require_form(kind: FormKind, form_id: str) -> AccountForm:
    """Return a form of any account. One AWS request.

    Raises:
        NotFound: the form does not exist.
    """
    form = find_form(kind, form_id)
    if form is None:
        raise NotFound(_RESOURCES[kind])
    return form


def require_form_of_account(account_id: str, kind: FormKind, form_id: str) -> AccountForm:
    """Return a form of this account. One AWS request.

    Raises:
        NotFound: the account does not have the form.
    """
    form = require_form(kind, form_id)
    if form.account_id != account_id:
        raise NotFound(_RESOURCES[kind])
    return form


def list_forms(account_id: str, kind: FormKind) -> Iterator[AccountForm]:
    """Yield the account's forms of a kind, oldest first. Three AWS requests per 100 forms."""
    page, read, total = 1, 0, 1
    while read < total:
        stored, total = TABLES[kind].page(account_id, PageRequest(limit=MAX_LIMIT, page=page))
        yield from (_form(kind, form) for form in stored)
        page, read = page + 1, page * MAX_LIMIT


def set_form_enabled(
    kind: FormKind, form_id: str, *, is_enabled: bool
) -> SavedContactForm | SavedSurvey:
    """Enable or disable a form. The change takes effect within a minute. Three AWS requests.

    Raises:
        NotFound: the form does not exist.
    """
    form = require_form(kind, form_id)
    if form.saved.enabled == is_enabled:
        return form.saved
    changed = {"enabled": is_enabled, "updated_at": format_timestamp(clock.now())}
    saved = form.saved.model_copy(update=changed)
    TABLES[kind].save(form.account_id, form_id, saved.model_dump_json().encode())
    return saved


def _form(kind: FormKind, stored: StoredForm) -> AccountForm:
    saved = _MODELS[kind].model_validate_json(stored.document)
    return AccountForm(stored.account_id, kind, saved, stored.submission_count)
