"""Test the server with the cases that the page's script must evaluate in the same way."""

from typing import Any

import pytest

from admin.display.words import comparison_in_words
from chalicelib.domain.comparison import Comparator
from tests.web.pages.cases import (
    CASES,
    answer_form,
    comparison_form,
    error_code,
    sorted_ids,
    submitted,
)


@pytest.mark.parametrize(("operator", "values", "expected", "is_true"), CASES["comparisons"])
def test_server_evaluates_comparison(
    operator: str, values: list[str], expected: str, is_true: bool
) -> None:
    questionnaire = comparison_form(operator, expected)
    (answer,) = submitted(questionnaire, values)
    dependent = sorted_ids(questionnaire)[1]
    assert (dependent in questionnaire.visible_fields({answer.id: answer.values})) == is_true


@pytest.mark.parametrize("comparator", Comparator)
def test_every_comparator_has_cases_and_words(comparator: Comparator) -> None:
    results = {
        is_true for operator, _, _, is_true in CASES["comparisons"] if operator == comparator
    }
    assert results == {True, False}
    assert comparison_in_words(comparator, "x")


@pytest.mark.parametrize(("definition", "values", "code"), CASES["answers"])
def test_server_validates_answer(definition: dict[str, Any], values: list[str], code: str) -> None:
    questionnaire = answer_form(definition)
    assert error_code(questionnaire, submitted(questionnaire, values)) == code
