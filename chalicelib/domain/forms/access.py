"""Check whether a form accepts a request with this tracker, store and brand."""

from chalicelib.domain import clock
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import Conflict, InvalidInput, NotAllowed, NotFound
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.input_errors import InputError, invalid_combination, json_pointer


class FormClosed(Conflict):
    """The form accepts no submission from this respondent.

    Attributes:
        form: the form. The page that reports the error has its style.
    """

    detail: str

    def __init__(self, form: SavedForm) -> None:
        super().__init__(self.detail)
        self.form = form


class FormDisabled(FormClosed):
    """The form accepts no submissions, or no longer."""

    code = "form_disabled"
    detail = "The form is disabled or closed, and accepts no submissions."


class FormNotOpen(FormClosed):
    """The form does not accept submissions yet."""

    code = "form_not_open"
    detail = "The form is not open yet."


class TrackerUsed(FormClosed):
    """The tracker's survey was already submitted."""

    code = "tracker_used"
    detail = "The tracker is already used: the survey was submitted."


class TrackerRequired(NotAllowed):
    """The survey is private, and the request has no tracker.

    Attributes:
        form: the survey; see `FormClosed`.
    """

    code = "tracker_required"

    def __init__(self, form: SavedForm) -> None:
        super().__init__("The survey is private: a tracker is required.")
        self.form = form


def require_open(form: SavedForm) -> None:
    """Check that the form accepts submissions now.

    Raises:
        FormDisabled: the form is disabled or closed.
        FormNotOpen: the form opens later.
    """
    opening = form.opening_at(clock.now())
    if not opening.is_open:
        raise FormNotOpen(form) if opening.until else FormDisabled(form)


def require_public(survey: SavedSurvey) -> None:
    """Check that the survey accepts requests without a tracker.

    Raises:
        TrackerRequired: the survey is private.
    """
    if not survey.publicly_available:
        raise TrackerRequired(survey)


def require_unused(tracker: Tracker | None, survey: SavedSurvey) -> Tracker:
    """Return the tracker if it belongs to the survey and has not been used.

    Raises:
        NotFound: the tracker does not exist or belongs to another survey.
        TrackerUsed: the tracker has already been used.
    """
    if tracker is None or tracker.survey_id != survey.id:
        raise NotFound("tracker")
    if tracker.used_at:
        raise TrackerUsed(survey)
    return tracker


def require_places(
    form: SavedContactForm | SavedSurvey,
    directory: Directory,
    *,
    store_id: str | None,
    brand_id: str | None,
) -> None:
    """Check that the store and the brand belong to the account and to each other.

    For a contact form, both must also belong to the form's brand.

    Raises:
        InvalidInput: the store or the brand is unknown, or the store is not a store of the brand.
    """
    errors = place_errors(form, directory, store_id=store_id, brand_id=brand_id)
    if errors:
        raise InvalidInput(errors)


def place_errors(
    form: SavedContactForm | SavedSurvey,
    directory: Directory,
    *,
    store_id: str | None,
    brand_id: str | None,
) -> list[InputError]:
    """Return the errors of the store and the brand; see `require_places`."""
    form_brand_id = form.brand_id if isinstance(form, SavedContactForm) else None
    errors = []
    store = directory.store(store_id) if store_id else None
    if store_id and (store is None or form_brand_id not in (None, store.brand_id)):
        errors.append(_unknown("store"))
    if brand_id and (directory.brand(brand_id) is None or form_brand_id not in (None, brand_id)):
        errors.append(_unknown("brand"))
    elif brand_id and store and store.brand_id != brand_id:
        errors.append(invalid_combination("The store does not belong to this brand.", "brand"))
    return errors


def _unknown(field: str) -> InputError:
    return InputError(json_pointer(field), "unknown_reference", f"Unknown {field}.")
