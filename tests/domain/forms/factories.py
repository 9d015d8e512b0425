"""Build valid definitions of forms and surveys, and a directory of brands and stores."""

from datetime import UTC, datetime
from typing import Any

from admin.domain.forms.contact_form import define_contact_form
from admin.domain.forms.survey import define_survey
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey

BRAND = "b0000000-0000-4000-8000-000000000001"
OTHER_BRAND = "b0000000-0000-4000-8000-000000000002"
STORE = "50000000-0000-4000-8000-000000000001"
SECOND_STORE = "50000000-0000-4000-8000-000000000002"
OTHER_STORE = "50000000-0000-4000-8000-000000000003"
NOWHERE = "ffffffff-ffff-4fff-8fff-ffffffffffff"
FORM = "f0000000-0000-4000-8000-000000000001"
NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 10, tzinfo=UTC)
NOW_TEXT = "2026-11-20T10:00:00.000Z"
LATER_TEXT = "2026-11-21T10:00:00.000Z"

DIRECTORY = Directory.of(
    [
        Place(id=BRAND, kind=PlaceKind.BRAND, name="Maison Lumen", color="#0b7285"),
        Place(id=OTHER_BRAND, kind=PlaceKind.BRAND, name="Kiosk"),
        Place(id=STORE, kind=PlaceKind.STORE, name="Lyon", color="#fff", brand_id=BRAND),
        Place(id=SECOND_STORE, kind=PlaceKind.STORE, name="Nice", brand_id=BRAND),
        Place(id=OTHER_STORE, kind=PlaceKind.STORE, name="Bruges", brand_id=OTHER_BRAND),
    ]
)

IMAGE: dict[str, Any] = {
    "contentType": "image/png",
    "url": "https://cdn.example.com/logo.png",
    "size": 18432,
    "width": 640,
    "height": 240,
    "originalname": "logo.png",
    "sourceUrl": "https://www.example.com/logo.png",
    "externalId": "img-1",
    "key": "forms/logo.png",
}


def field(key: str, kind: str = "TEXT", **overrides: Any) -> dict[str, Any]:
    """Return the definition of a field."""
    return {"key": key, "type": kind, "label": key.title(), **overrides}


def select(key: str, *values: str, kind: str = "SINGLE_SELECT", **overrides: Any) -> dict[str, Any]:
    """Return the definition of a select field."""
    return field(key, kind, values=list(values) or ["Yes", "No"], **overrides)


def depends(field: str, on: str, *values: Any, **overrides: Any) -> dict[str, Any]:
    """Return the definition of a dependency of a field on another field.

    Args:
        field: the key of the dependent field.
        on: the key of the field whose answer is compared.
        values: the expected values. A text is compared with ``$eq``; a pair sets the operator, for
            example ``("$gt", "7")``. Defaults to ``"Yes"``.
    """
    expected = [
        {"operator": value[0], "value": value[1]} if isinstance(value, tuple) else {"value": value}
        for value in values or ("Yes",)
    ]
    return {"field": field, "dependsOnField": on, "dependsOnFieldValues": expected, **overrides}


def contact_form(**overrides: Any) -> dict[str, Any]:
    """Return the definition of a contact form."""
    return {"id": FORM, "name": "Contact", "language": "en", "brandId": BRAND, **overrides}


def survey(**overrides: Any) -> dict[str, Any]:
    """Return the definition of a private survey."""
    return {"id": FORM, "name": "Visit", "language": "en", "sendingChannels": ["SMS"], **overrides}


def saved_contact_form(**overrides: Any) -> SavedContactForm:
    """Build the contact form that the service saves for the definition."""
    return define_contact_form(contact_form(**overrides), DIRECTORY, NOW)


def saved_survey(**overrides: Any) -> SavedSurvey:
    """Build the survey that the service saves for the definition."""
    return define_survey(survey(**overrides), DIRECTORY, NOW)


def contact_form_errors(**overrides: Any) -> list[tuple[str, str]]:
    """Validate the definition of a contact form and return the pointer and code of each error."""
    return _errors(lambda: saved_contact_form(**overrides))


def survey_errors(**overrides: Any) -> list[tuple[str, str]]:
    """Validate the definition of a survey and return the pointer and code of each error."""
    return _errors(lambda: saved_survey(**overrides))


def _errors(build: Any) -> list[tuple[str, str]]:
    try:
        build()
    except InvalidInput as error:
        return [(input_error.pointer, input_error.code) for input_error in error.errors]
    return []
