"""Who may see and answer a survey: anybody where it is public, else whoever has a fresh tracker."""

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import Conflict, InvalidInput, NotAllowed, NotFound
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.solicitation.tracker import Tracker


def require_public(survey: SavedSurvey) -> None:
    """That the survey may be used without a tracker.

    Raises:
        NotAllowed: it may not.
    """
    if not survey.publicly_available:
        raise NotAllowed("This survey may only be used with a tracker.")


def require_fresh(tracker: Tracker | None, survey: SavedSurvey) -> Tracker:
    """The tracker, when it leads to this survey and was not used yet.

    Raises:
        NotFound: there is no such tracker, or it leads to another survey.
        Conflict: it was used.
    """
    if tracker is None or tracker.survey_id != survey.id:
        raise NotFound("tracker")
    if tracker.used_at:
        raise Conflict("This tracker was already used: the survey is answered.")
    return tracker


def require_places(
    directory: Directory,
    where: str,
    *,
    store_id: str | None,
    brand_id: str | None,
    of_brand: str | None = None,
) -> None:
    """That store and brand, where they are given, are the account's.

    Args:
        where: what leads a name to its place in the request: ``/`` in a body, ``?`` in a query.
        of_brand: the one brand that they must be, or belong to; None for any of the account's.

    Raises:
        InvalidInput: one of them is not.
    """
    errors = []
    if store_id:
        store = directory.store(store_id)
        if store is None or of_brand not in (None, store.brand_id):
            errors.append(
                InputError(f"{where}store", "unknown_reference", "There is no such store.")
            )
    if brand_id and (directory.brand(brand_id) is None or of_brand not in (None, brand_id)):
        errors.append(InputError(f"{where}brand", "unknown_reference", "There is no such brand."))
    if errors:
        raise InvalidInput(errors)
