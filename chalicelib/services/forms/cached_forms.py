"""Load and cache contact forms and surveys, with the questionnaires built from them."""

from collections.abc import Callable, Collection
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
from chalicelib.services.caching import CachedFunction, cached
from chalicelib.services.forms.saved import read_saved
from chalicelib.storage.forms import StoredForm, contact_forms, load_with_versions, surveys

_MAX_FORMS: Final = 128

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
    form = _contact_form(form_id)
    if form is None:
        raise NotFound("contact form")
    return form


def get_survey(survey_id: str) -> CachedForm[SavedSurvey]:
    """Return the survey with this id, from any account. No AWS request if the form is cached.

    Raises:
        NotFound: the survey does not exist.
        UnreadableForm: this version of the service cannot read the survey.
    """
    survey = _survey(survey_id)
    if survey is None:
        raise NotFound("survey")
    return survey


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
    kind, form_id = key
    return _CACHES[kind].cached(form_id)


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
        kind, form_id = key
        with suppress(UnreadableForm):
            found[key] = _BUILDERS[kind](each)
            _CACHES[kind].store(found[key], form_id)
    return found, documents


def _build_contact_form(stored: StoredForm) -> CachedForm[SavedContactForm]:
    return CachedForm(stored.account_id, read_saved(SavedContactForm, stored))


def _build_survey(stored: StoredForm) -> CachedForm[SavedSurvey]:
    return CachedForm(stored.account_id, read_saved(SavedSurvey, stored))


@cached(at_most=_MAX_FORMS)
def _contact_form(form_id: str) -> CachedForm[SavedContactForm] | None:
    stored = contact_forms.find(form_id)
    return _build_contact_form(stored) if stored else None


@cached(at_most=_MAX_FORMS)
def _survey(survey_id: str) -> CachedForm[SavedSurvey] | None:
    stored = surveys.find(survey_id)
    return _build_survey(stored) if stored else None


_BUILDERS: Final[dict[FormKind, Callable[[StoredForm], AnyCachedForm]]] = {
    FormKind.CONTACT_FORM: _build_contact_form,
    FormKind.SURVEY: _build_survey,
}
_CACHES: Final[dict[FormKind, CachedFunction[[str], Any]]] = {
    FormKind.CONTACT_FORM: _contact_form,
    FormKind.SURVEY: _survey,
}
