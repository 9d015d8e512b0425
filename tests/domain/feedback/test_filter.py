"""Test that a filter selects feedback by form, place, rating, language and text."""

from typing import Any

import pytest

from admin.domain.feedback_filter import FeedbackFilter
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.ids import new_id
from chalicelib.domain.language import Language
from tests.domain.feedback.factories import NOW, answer, build_feedback

FORM, STORE, BRAND = new_id(), new_id(), new_id()
CONTACT = build_feedback(
    answer("why", "Très bon Café"),
    form_id=FORM,
    store_id=STORE,
    brand_id=BRAND,
    rating=6,
    language=Language("fr"),
)
SURVEY = build_feedback(kind=FormKind.SURVEY, form_id=FORM)


@pytest.mark.parametrize(
    "selecting",
    [
        {},
        {"form_id": FORM},
        {"store_id": STORE},
        {"brand_id": BRAND},
        {"ratings": (6, 6)},
        {"ratings": (0, 6)},
        {"ratings": (6, 10)},
        {"language": "fr"},
        {"text": "bon CAFÉ"},
        {"form_id": FORM, "ratings": (0, 10), "text": "bon"},
    ],
)
def test_filter_selects_matching_feedback(selecting: dict[str, Any]) -> None:
    assert FeedbackFilter(**selecting).matches(CONTACT)


@pytest.mark.parametrize(
    "rejecting",
    [
        {"form_id": new_id()},
        {"survey_id": FORM},
        {"store_id": BRAND},
        {"brand_id": STORE},
        {"ratings": (7, 10)},
        {"ratings": (0, 5)},
        {"language": "en"},
        {"text": "thé"},
        {"form_id": FORM, "text": "thé"},
    ],
)
def test_filter_rejects_other_feedback(rejecting: dict[str, Any]) -> None:
    assert not FeedbackFilter(**rejecting).matches(CONTACT)


def test_survey_filter_selects_survey_and_form_filter_does_not() -> None:
    assert FeedbackFilter(survey_id=FORM).matches(SURVEY)
    assert not FeedbackFilter(form_id=FORM).matches(SURVEY)


def test_rating_filter_rejects_feedback_without_rating() -> None:
    assert not FeedbackFilter(ratings=(0, 10)).matches(SURVEY)


def test_filter_with_only_period_selects_all_records() -> None:
    assert FeedbackFilter(since=NOW).selects_all
    assert not FeedbackFilter(since=NOW, text="x").selects_all
