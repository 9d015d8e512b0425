"""Test the anonymization of feedback and the pair that identifies the respondent."""

import pytest

from chalicelib.domain.customers.addresses import pair_of
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.wording import Answer
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


@pytest.mark.parametrize(
    ("places", "context"),
    [
        ({"store_id": "s", "brand_id": "b"}, "s"),
        ({"brand_id": "b"}, "b"),
        ({}, "form"),
    ],
)
def test_context_of_erased_person_is_place_or_form_instead_of_tracker(
    places: dict[str, str], context: str
) -> None:
    links = {"tracker_id": "t", "customer_id": "c", "purchase_id": "p", "form_id": "form"}
    erased = build_feedback(EMAIL, context_id="t", **links, **places).without_person()
    assert (erased.context_id, erased.answers) == (context, ())
    assert erased.tracker_id is erased.customer_id is erased.purchase_id is None
    assert erased.is_solicited


def test_other_context_of_erased_person_is_retained() -> None:
    erased = build_feedback(EMAIL, context_id="x", tracker_id="t", store_id="s").without_person()
    assert erased.context_id == "x"
    assert not build_feedback(EMAIL).without_person().is_solicited
