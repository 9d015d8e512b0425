"""Test which trackers, stores and brands a form accepts."""

from dataclasses import replace

import pytest

from chalicelib.domain.errors import InvalidInput, NotAllowed, NotFound
from chalicelib.domain.forms.access import (
    FormDisabled,
    TrackerUsed,
    require_enabled,
    require_places,
    require_public,
    require_unused,
)
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.ids import new_id
from tests.domain.forms.factories import (
    BRAND,
    DIRECTORY,
    NOW,
    NOWHERE,
    OTHER_BRAND,
    OTHER_STORE,
    STORE,
    saved_contact_form,
    saved_survey,
)

SURVEY = saved_survey(publiclyAvailable=True)
TRACKER = Tracker(
    id=new_id(),
    account_id=new_id(),
    survey_id=SURVEY.id,
    purchase_id=new_id(),
    customer_id=None,
    store_id=STORE,
    send_mode="EMAIL",
    created_at=NOW,
)


def place_errors(
    form: SavedContactForm | SavedSurvey, store_id: str | None, brand_id: str | None
) -> list[tuple[str, str]]:
    """Return the pointer and code of each error."""
    try:
        require_places(form, DIRECTORY, store_id=store_id, brand_id=brand_id)
    except InvalidInput as error:
        return [(input_error.pointer, input_error.code) for input_error in error.errors]
    return []


UNKNOWN_STORE = ("/store", "unknown_reference")
UNKNOWN_BRAND = ("/brand", "unknown_reference")
OTHER_BRAND_OF_STORE = ("/brand", "invalid_combination")


@pytest.mark.parametrize(
    ("store_id", "brand_id", "expected"),
    [
        (None, None, []),
        (STORE, None, []),
        (None, OTHER_BRAND, []),
        (STORE, BRAND, []),
        (STORE, OTHER_BRAND, [OTHER_BRAND_OF_STORE]),
        (BRAND, None, [UNKNOWN_STORE]),
        (None, STORE, [UNKNOWN_BRAND]),
        (STORE, NOWHERE, [UNKNOWN_BRAND]),
        (NOWHERE, NOWHERE, [UNKNOWN_STORE, UNKNOWN_BRAND]),
    ],
)
def test_store_and_brand_of_survey_belong_to_account_and_to_each_other(
    store_id: str | None, brand_id: str | None, expected: list[tuple[str, str]]
) -> None:
    assert place_errors(SURVEY, store_id, brand_id) == expected


@pytest.mark.parametrize(
    ("store_id", "brand_id", "expected"),
    [
        (None, None, []),
        (STORE, None, []),
        (STORE, BRAND, []),
        (OTHER_STORE, None, [UNKNOWN_STORE]),
        (None, OTHER_BRAND, [UNKNOWN_BRAND]),
        (OTHER_STORE, OTHER_BRAND, [UNKNOWN_STORE, UNKNOWN_BRAND]),
    ],
)
def test_store_and_brand_of_contact_form_belong_to_its_brand(
    store_id: str | None, brand_id: str | None, expected: list[tuple[str, str]]
) -> None:
    assert place_errors(saved_contact_form(), store_id, brand_id) == expected


def test_only_unused_tracker_of_survey_is_accepted() -> None:
    assert require_unused(TRACKER, SURVEY) is TRACKER
    for tracker in (None, replace(TRACKER, survey_id=NOWHERE)):
        with pytest.raises(NotFound):
            require_unused(tracker, SURVEY)
    with pytest.raises(TrackerUsed):
        require_unused(replace(TRACKER, used_at=NOW), SURVEY)


def test_private_survey_and_disabled_form_are_rejected() -> None:
    require_public(SURVEY)
    require_enabled(SURVEY)
    with pytest.raises(NotAllowed):
        require_public(saved_survey())
    with pytest.raises(FormDisabled):
        require_enabled(saved_survey(enabled=False))
