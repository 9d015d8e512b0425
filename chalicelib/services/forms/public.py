"""Return the public views of contact forms and surveys."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Final, Generic, TypeVar

from chalicelib.domain import clock
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import NotFound
from chalicelib.domain.forms.access import (
    require_places,
    require_public,
    require_unused,
)
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.form import Opening
from chalicelib.domain.forms.public.contact_form import (
    PublicContactForm,
    build_public_contact_form,
)
from chalicelib.domain.forms.public.survey import PublicSurvey, build_public_survey
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.domain.forms.untranslated import untranslated_texts
from chalicelib.domain.language import Language
from chalicelib.services.accounts.settings import date_at_store
from chalicelib.services.caching import cached
from chalicelib.services.forms.cached_forms import (
    AnyCachedForm,
    CachedForm,
    Respondent,
    get_contact_form,
    get_survey,
)
from chalicelib.storage import trackers

MAX_CACHED_VIEWS: Final = 256

View = TypeVar("View", bound=PublicContactForm | PublicSurvey, covariant=True)
_View = TypeVar("_View", PublicContactForm, PublicSurvey)


@dataclass(frozen=True, eq=False)
class DisplayedForm(Generic[View]):
    """The public view of a form, and the visit that the form is about.

    Attributes:
        until: the time at which the form opens or closes, after which the view is out of date; None
            if there is none.
    """

    cached: AnyCachedForm
    view: View
    context: SurveyContext
    until: datetime | None = None

    @cached_property
    def json(self) -> str:
        """The view as JSON."""
        return self.view.model_dump_json()

    @cached_property
    def untranslated(self) -> Mapping[str, Language]:
        """The language of each text that is in another language than the view."""
        saved, language = self.cached.saved, self.view.language
        if language == saved.language:
            return {}
        return untranslated_texts(saved, language, self.context.names(language))


@dataclass(frozen=True)
class FormIds:
    """The ids in a request for a form.

    Attributes:
        form_id: the form; ``""`` if its id is missing or invalid. None for the tracker's survey.
        tracker_id: the tracker; None for contact forms.
        store_id, brand_id: always validated, but used only if the request has no tracker.
    """

    form_id: str | None
    tracker_id: str | None = None
    store_id: str | None = None
    brand_id: str | None = None


def get_public_contact_form(
    form_id: str, respondent: Respondent, store_id: str | None = None
) -> DisplayedForm[PublicContactForm]:
    """Return the public view of the contact form, and its context. No AWS request if it is cached.

    Args:
        store_id: the store that the respondent gives feedback on, if it is known.

    Raises:
        NotFound: the contact form does not exist.
    """
    return contact_form_view(get_contact_form(form_id), respondent, store_id)


def contact_form_view(
    form: CachedForm[SavedContactForm], respondent: Respondent, store_id: str | None
) -> DisplayedForm[PublicContactForm]:
    """Return the view of a contact form.

    Identical calls return the same object, until the contact form opens or closes.
    """
    opening = form.saved.opening_at(clock.now())
    language = form.language_for(respondent)
    return _contact_form_view(form, form.directory, language, opening, store_id)


def get_public_survey(ids: FormIds, respondent: Respondent) -> DisplayedForm[PublicSurvey]:
    """Return the public view of the survey, and its context.

    If the survey is cached, a request without a tracker sends no AWS request; a request with a
    tracker sends two. Views without a tracker are cached too, and identical requests return the
    same object.

    Raises:
        InvalidInput: the store or the brand does not belong to the account, or the store does not
            belong to the brand.
        TrackerRequired: the survey is private and the request has no tracker.
        NotFound: the survey does not exist, or the tracker does not belong to it.
        Conflict: the tracker is already used.
    """
    found = trackers.find(ids.tracker_id or "") if ids.form_id is None else None
    survey_id = found.survey_id if found else ids.form_id
    if not survey_id:
        raise NotFound("survey")
    survey = get_survey(survey_id)
    directory, language = survey.directory, survey.language_for(respondent)
    if not ids.tracker_id:
        require_public(survey.saved)
    require_places(survey.saved, directory, store_id=ids.store_id, brand_id=ids.brand_id)
    if not ids.tracker_id:
        return survey_view(survey, language, ids.store_id, ids.brand_id)
    tracker = require_unused(found or trackers.find(ids.tracker_id), survey.saved)
    context = SurveyContext.of_tracker(directory, tracker)
    return view_of_purchase(survey, language, context, tracker.purchase_id, tracker.customer_id)


def _open_or_closed(view: _View, opening: Opening) -> _View:
    return view.model_copy(update={"enabled": opening.is_open})


@cached(at_most=MAX_CACHED_VIEWS)
def _contact_form_view(
    form: CachedForm[SavedContactForm],
    directory: Directory,
    language: Language,
    opening: Opening,
    store_id: str | None,
) -> DisplayedForm[PublicContactForm]:
    context = SurveyContext.at(directory, store_id=store_id, brand_id=form.saved.brand_id)
    view = build_public_contact_form(form.saved, directory, language, context)
    return DisplayedForm(form, _open_or_closed(view, opening), context, opening.until)


def survey_view(
    survey: CachedForm[SavedSurvey], language: Language, store_id: str | None, brand_id: str | None
) -> DisplayedForm[PublicSurvey]:
    """Return the view of a survey without a tracker.

    Identical calls return the same object, until the survey opens or closes.
    """
    opening = survey.saved.opening_at(clock.now())
    return _survey_view(survey, survey.directory, language, opening, store_id, brand_id)


@cached(at_most=MAX_CACHED_VIEWS)
def _survey_view(
    survey: CachedForm[SavedSurvey],
    directory: Directory,
    language: Language,
    opening: Opening,
    store_id: str | None,
    brand_id: str | None,
) -> DisplayedForm[PublicSurvey]:
    context = SurveyContext.of_request(
        survey.saved, directory, store_id=store_id, brand_id=brand_id
    )
    view = build_public_survey(survey.saved, directory, language, context)
    return DisplayedForm(survey, _open_or_closed(view, opening), context, opening.until)


def view_of_purchase(
    survey: CachedForm[SavedSurvey],
    language: Language,
    context: SurveyContext,
    purchase_id: str,
    customer_id: str | None,
) -> DisplayedForm[PublicSurvey]:
    """Return the view with the order and the date of the purchase. One AWS request.

    The request also loads the customer if a text of the survey contains the first name.
    """
    # Imported here: views without a tracker do not need the models of purchases and customers.
    from chalicelib.storage import purchases

    account_id = survey.account_id
    greeted = customer_id if "firstName" in survey.placeholders else None
    purchase, customer = purchases.find_with_customer(account_id, purchase_id, greeted)
    if purchase:
        is_own = customer is not None and purchase.customer_id == customer.id
        context = replace(
            context,
            order=purchase.external_id,
            visited_on=date_at_store(account_id, context.store, purchase.date),
            first_name=(customer.first_name or "") if customer and is_own else "",
        )
    view = build_public_survey(survey.saved, survey.directory, language, context)
    opening = survey.saved.opening_at(clock.now())
    return DisplayedForm(survey, _open_or_closed(view, opening), context, opening.until)
