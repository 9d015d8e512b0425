"""Test the anonymization of feedback and the pair that identifies the respondent."""

import pytest

from chalicelib.domain.customers.pair import pair_of
from chalicelib.domain.feedback.answers import Answer
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.ids import new_id
from tests.domain.feedback.factories import answer, build_feedback

EMAIL = answer("email", "zoe@example.com", kind="EMAIL")
PHONE = answer("phone", "+33612345678", kind="PHONE")


@pytest.mark.parametrize("answers", [(EMAIL,), (PHONE,), (EMAIL, PHONE), (answer("text", "x"),)])
def test_answers_identify_respondent_only_without_tracker(answers: tuple[Answer, ...]) -> None:
    expected = pair_of(
        EMAIL.values[0] if EMAIL in answers else None,
        PHONE.values[0] if PHONE in answers else None,
    )
    assert build_feedback(*answers).pair == expected
    assert build_feedback(*answers, tracker_id=new_id()).pair is None


def test_anonymized_feedback_contains_only_ratings() -> None:
    answers = [answer(kind.lower(), kind.rules.example, kind=kind) for kind in FieldType]
    anonymized = build_feedback(*answers).anonymized()
    assert {kept.type for kept in anonymized.answers} == {
        "NPS",
        "CSAT_STAR",
        "CSAT_SMILEY",
        "BINARY",
        "RATING",
    }
    assert anonymized.is_anonymized
