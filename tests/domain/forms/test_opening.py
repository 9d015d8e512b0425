"""Tests of the times at which a form opens and closes."""

from datetime import timedelta

import pytest

from chalicelib.domain.forms.form import Opening
from tests.domain.forms.factories import (
    LATER,
    LATER_TEXT,
    NOW,
    NOW_TEXT,
    contact_form_errors,
    saved_contact_form,
    saved_survey,
)

TICK = timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (NOW - TICK, Opening(False, NOW)),
        (NOW, Opening(True, LATER)),
        (LATER - TICK, Opening(True, LATER)),
        (LATER, Opening(False, None)),
    ],
)
def test_form_is_open_from_opening_until_before_closing(now: object, expected: Opening) -> None:
    times = {"opensAt": NOW_TEXT, "closesAt": LATER_TEXT}
    for form in (saved_contact_form(**times), saved_survey(**times)):
        assert form.opening_at(now) == expected  # type: ignore[arg-type]


def test_form_without_times_is_open_if_it_is_enabled() -> None:
    assert saved_survey().opening_at(NOW) == Opening(True, None)
    assert saved_survey(enabled=False, opensAt=LATER_TEXT).opening_at(NOW) == Opening(False, None)
    assert saved_survey(opensAt=NOW_TEXT).opening_at(NOW) == Opening(True, None)
    assert saved_survey(closesAt=LATER_TEXT).opening_at(NOW) == Opening(True, LATER)


@pytest.mark.parametrize(
    ("closes_at", "errors"),
    [
        ("2026-11-20T10:00:00.001Z", []),
        (NOW_TEXT, [("/closesAt", "out_of_range")]),
        ("2026-11-20T11:00:00+01:00", [("/closesAt", "out_of_range")]),
        ("tomorrow", [("/closesAt", "invalid_timestamp")]),
    ],
)
def test_form_must_close_after_it_opens(closes_at: str, errors: list[tuple[str, str]]) -> None:
    assert contact_form_errors(opensAt=NOW_TEXT, closesAt=closes_at) == errors
