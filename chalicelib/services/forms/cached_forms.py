"""Load and cache contact forms and surveys, with the questionnaires built from them."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import NotFound, UnreadableForm
from chalicelib.domain.feedback.answers import Questionnaire
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.forms.access import require_public
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.language_choice import choose_language
from chalicelib.domain.forms.placeholders import form_names
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.wording import FormWording
from chalicelib.domain.language import Language
from chalicelib.services.accounts.directory import account_directory
from chalicelib.services.caching import cached
from chalicelib.services.forms.saved import read_saved
from chalicelib.storage.forms import TABLES, StoredForm, load_with_versions

_MAX_FORMS: Final = 256

Saved = TypeVar("Saved", SavedContactForm, SavedSurvey)


@dataclass(frozen=True)
class Respondent:
    """The respondent who sends a public request.

    Attributes:
        language: the value of the request's language parameter, or None.
        accept_language: the value of the ``Accept-Language`` header, or None.
        address: the source IP address, ``""`` if unknown.
    """

    language: str | None = None
    accept_language: str | None = None
    address: str = ""


@dataclass(frozen=True, eq=False)
class CachedForm(Generic[Saved]):
    """A cached form and the account that owns it."""

    account_id: str
    saved: Saved

    @property
    def directory(self) -> Directory:
        """The account's brands and stores."""
        return account_directory(self.account_id)

    @cached_property
    def questionnaire(self) -> Questionnaire:
        """The form's questionnaire, which validates answers."""
        return Questionnaire.of(self.saved)

    @cached_property
    def wording(self) -> FormWording:
        """The wording of the form's questions."""
        return FormWording.of(self.saved)

    @cached_property
    def version(self) -> str:
        """The version of the form's wording."""
        return self.wording.version

    @cached_property
    def placeholders(self) -> set[str]:
        """The names of the placeholders in the texts of the form."""
        return form_names(self.saved)

    def language_for(self, respondent: Respondent) -> Language:
        """Return the language in which to show the form to the respondent."""
        if not self.saved.auto_translate:
            return self.saved.language
        return choose_language(
            self.saved.language,
            self.saved.translations,
            requested_range=respondent.language,
            accept_language=respondent.accept_language,
        )


AnyCachedForm = CachedForm[SavedContactForm] | CachedForm[SavedSurvey]
FormKey = tuple[FormKind, str]
VersionKey = tuple[FormKind, str, str]


def get_contact_form(form_id: str) -> CachedForm[SavedContactForm]:
    """Return the contact form with this id, from any account. No AWS request if the form is cached.

    Raises:
        NotFound: the contact form does not exist.
        UnreadableForm: this version of the service cannot read the form.
    """
    return _require(FormKind.CONTACT_FORM, form_id)


def get_survey(survey_id: str) -> CachedForm[SavedSurvey]:
    """Return the survey with this id, from any account; see `get_contact_form`."""
    return _require(FormKind.SURVEY, survey_id)


def _require(kind: FormKind, form_id: str) -> CachedForm[Any]:
    form = _form(kind, form_id)
    if form is None:
        raise NotFound(kind.value.lower().replace("_", " "))
    return form


def reject_private_survey(survey_id: str) -> None:
    """Reject an invalid request without a tracker if the survey is private.

    A private survey must not report other errors of such a request. No AWS request if the survey is
    cached.

    Args:
        survey_id: ``""`` if the id is missing or invalid. Such a request is not rejected here.

    Raises:
        TrackerRequired: the survey is private.
    """
    if not survey_id:
        return
    with suppress(NotFound):
        require_public(get_survey(survey_id).saved)


def find_cached(key: FormKey) -> AnyCachedForm | None:
    """Return the form with this kind and id if it is cached, otherwise None."""
    return _form.cached(*key)


def load_forms(
    forms: Collection[FormKey], versions: Collection[VersionKey]
) -> tuple[dict[FormKey, AnyCachedForm], dict[VersionKey, bytes]]:
    """Load and cache forms, and load versions of forms: the wording as JSON.

    Omit missing and unreadable forms, and missing versions. One AWS request per 100 rows: two for
    each form, and one for each version.
    """
    stored, documents = load_with_versions(forms, versions)
    found: dict[FormKey, AnyCachedForm] = {}
    for key, each in stored.items():
        with suppress(UnreadableForm):
            found[key] = _build(key[0], each)
            _form.store(found[key], *key)
    return found, documents


@cached(at_most=_MAX_FORMS)
def _form(kind: FormKind, form_id: str) -> CachedForm[Any] | None:
    stored = TABLES[kind].find(form_id)
    return _build(kind, stored) if stored else None


def _build(kind: FormKind, stored: StoredForm) -> CachedForm[Any]:
    model = SavedSurvey if kind is FormKind.SURVEY else SavedContactForm
    return CachedForm(stored.account_id, read_saved(model, stored))
