"""Test the anonymization of feedback."""

from chalicelib.domain.forms.field_types import FieldType
from tests.domain.feedback.factories import answer, build_feedback


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
