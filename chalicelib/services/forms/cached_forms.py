"""Contact forms and surveys as a warm function holds them: read at most once a minute.

What is made from a form while it is held, its questionnaire and its views, is held with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Generic, TypeVar

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import NotFound
from chalicelib.domain.feedback.answers import Questionnaire
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.language_choice import choose_language
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.language import Language
from chalicelib.services.accounts.directory import account_directory
from chalicelib.services.caching import cached
from chalicelib.storage.contact_forms import contact_forms
from chalicelib.storage.surveys import surveys

_MAX_FORMS: Final = 128
_MAX_VIEWS: Final = 8
"""Views of a form, each as large as the form or twice that, so that all fit into a function."""

Saved = TypeVar("Saved", SavedContactForm, SavedSurvey)


@dataclass(frozen=True)
class Respondent:
    """What is known of the end user who reads or answers.

    Attributes:
        language: the one language that was asked for, if any.
        accept_language: the value of the ``Accept-Language`` header.
        address: where the request came from, ``""`` when that is not known.
    """

    language: str | None = None
    accept_language: str | None = None
    address: str = ""


@dataclass(frozen=True, eq=False)
class CachedForm(Generic[Saved]):
    """A form that is held."""

    account_id: str
    saved: Saved
    _views: dict[object, tuple[Directory, str]] = field(default_factory=dict)

    @property
    def directory(self) -> Directory:
        """The present names of the account's brands and stores."""
        return account_directory(self.account_id)

    @cached_property
    def questionnaire(self) -> Questionnaire:
        """The form made ready for judging."""
        return Questionnaire.of(self.saved)

    def language_for(self, respondent: Respondent) -> Language:
        """The language that this reader gets."""
        if not self.saved.auto_translate:
            return self.saved.language
        return choose_language(
            self.saved.language,
            self.saved.translations,
            asked_for=respondent.language,
            accept_language=respondent.accept_language,
        )

    def view(self, of: object, show: Callable[[Directory], str]) -> str:
        """The view that ``of`` names, as JSON: made by ``show``, and anew when names changed."""
        directory = self.directory
        held_view = self._views.get(of)
        if held_view and held_view[0] is directory:
            return held_view[1]
        view = show(directory)
        if len(self._views) >= _MAX_VIEWS:
            self._views.clear()
        self._views[of] = directory, view
        return view


def contact_form(form_id: str) -> CachedForm[SavedContactForm]:
    """The contact form, of whatever account. No request to AWS while it is held.

    Raises:
        NotFound: there is no such contact form.
    """
    form = _contact_form(form_id)
    if form is None:
        raise NotFound("contact form")
    return form


def survey(survey_id: str) -> CachedForm[SavedSurvey]:
    """The survey, of whatever account. No request to AWS while it is held.

    Raises:
        NotFound: there is no such survey.
    """
    form = _survey(survey_id)
    if form is None:
        raise NotFound("survey")
    return form


@cached(at_most=_MAX_FORMS)
def _contact_form(form_id: str) -> CachedForm[SavedContactForm] | None:
    stored = contact_forms.find(form_id)
    if stored is None:
        return None
    return CachedForm(stored.account_id, SavedContactForm.model_validate_json(stored.document))


@cached(at_most=_MAX_FORMS)
def _survey(survey_id: str) -> CachedForm[SavedSurvey] | None:
    stored = surveys.find(survey_id)
    if stored is None:
        return None
    return CachedForm(stored.account_id, SavedSurvey.model_validate_json(stored.document))
