"""Load saved contact forms and surveys for the command line."""

from collections.abc import Callable, Iterator
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
from chalicelib.storage.dynamodb.transactions import Contention, retry_on_contention
from chalicelib.storage.forms import StoredForm

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


def set_form_enabled(kind: FormKind, form_id: str, *, is_enabled: bool) -> SavedForm:
    """Enable or disable a form. The change takes effect within a minute. Two AWS requests.

    Raises:
        NotFound: the form does not exist.
    """

    def change(form: SavedForm) -> SavedForm:
        if form.enabled == is_enabled:
            return form
        changed = {"enabled": is_enabled, "updated_at": format_timestamp(clock.now())}
        return form.model_copy(update=changed)

    return change_form(kind, form_id, change)


def change_form(
    kind: FormKind, form_id: str, change: Callable[[SavedForm], SavedForm]
) -> SavedForm:
    """Change a saved form and return it. Two AWS requests, or one if nothing changes.

    Args:
        change: returns the changed form. It is called again if the form changes in the meantime, so
            that concurrent changes are not lost.

    Raises:
        NotFound: the form does not exist.
    """

    def attempt() -> SavedForm:
        stored = TABLES[kind].find(form_id)
        if stored is None:
            raise NotFound(_RESOURCES[kind])
        form = _form(kind, stored).saved
        changed = change(form)
        document = changed.model_dump_json().encode()
        if changed != form and not TABLES[kind].replace_document(stored, document):
            raise Contention(condition_failed=True)
        return changed

    return retry_on_contention(attempt)


def _form(kind: FormKind, stored: StoredForm) -> AccountForm:
    saved = _MODELS[kind].model_validate_json(stored.document)
    return AccountForm(stored.account_id, kind, saved, stored.submission_count)
