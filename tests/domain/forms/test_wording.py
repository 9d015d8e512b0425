"""Tests of the texts that respondents saw for stored values."""

import pytest

from chalicelib.domain.forms.wording import FormWording
from chalicelib.domain.language import Language
from tests.domain.forms.factories import field, saved_contact_form


@pytest.mark.parametrize(
    ("kind", "values", "translated", "stored", "original", "french"),
    [
        ("SINGLE_SELECT", ["Food", "Price"], ["Cuisine", ""], "Food", "Food", "Cuisine"),
        ("SINGLE_SELECT", ["Food", "Price"], ["Cuisine", ""], "Price", "Price", "Price"),
        ("BINARY", ["Yes", "No"], ["Oui", "Non"], "unsatisfied", "No", "Non"),
        ("BINARY", [], [], "unsatisfied", "unsatisfied", "unsatisfied"),
        ("CSAT_SMILEY", [*"ABCDE"], [], "5", "E", "E"),
        ("NPS", ["Bad", "Good"], ["Mal", "Bien"], "10", "10", "10"),
        ("TEXT", ["Food"], ["Cuisine"], "Food", "Food", "Food"),
    ],
)
def test_displayed_text_of_stored_value_is_its_label(
    kind: str, values: list[str], translated: list[str], stored: str, original: str, french: str
) -> None:
    form = saved_contact_form(
        fields=[field("what", kind, values=values)],
        translations={"fr": {"fields": {"what": {"values": translated}}}},
    )
    (question,) = FormWording.of(form).questions

    assert question.displayed(stored, Language("en")) == original
    assert question.displayed(stored, Language("fr")) == french
