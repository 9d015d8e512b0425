"""Test in Chromium that the page's script evaluates conditions and answers like the server."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from chalicelib.domain.feedback.answers import Questionnaire, SubmittedAnswer
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.language import Language
from chalicelib.web.pages.assets import asset_text
from chalicelib.web.pages.script_data import script_data
from chalicelib.web.pages.words import words_in
from tests.domain.feedback.test_answers_oracle import forms_and_submissions
from tests.e2e.browser import open_page, serve
from tests.web.pages.cases import (
    CASES,
    answer_form,
    comparison_form,
    error_code,
    sorted_ids,
)

LOAD = """async (source) => {
    const url = URL.createObjectURL(new Blob([source], {type: 'text/javascript'}));
    window.script = await import(url);
}"""
EVALUATE = """([data, answers]) => {
    const cleaned = Object.fromEntries(Object.entries(answers).map(
        ([n, values]) => [n, script.cleaned(values, data.fields[n])]));
    return {
        visible: [...script.visibleFields(data, cleaned)].sort((a, b) => a - b),
        errors: Object.fromEntries(Object.entries(cleaned).map(
            ([n, values]) => [n, script.answerError(data.fields[n], values, data.maxLength)])),
    };
}"""

Evaluate = Callable[[Questionnaire, dict[int, list[str]]], dict[str, Any]]


@pytest.fixture(scope="module")
def evaluate() -> Iterator[Evaluate]:
    """Return a function that runs the script for a form with these answers by field number."""
    with serve("<!doctype html>") as address, open_page() as page:
        page.goto(address)
        page.evaluate(LOAD, asset_text("page.js"))

        def run(questionnaire: Questionnaire, answers: dict[int, list[str]]) -> dict[str, Any]:
            data = script_data(questionnaire, numbers_of(questionnaire), words_in(Language("en")))
            given_values = {str(number): values for number, values in answers.items()}
            result: dict[str, Any] = page.evaluate(EVALUATE, [data, given_values])
            return result

        yield run


def numbers_of(questionnaire: Questionnaire) -> dict[str, int]:
    return {field_id: number for number, field_id in enumerate(sorted_ids(questionnaire))}


def test_script_evaluates_comparisons_as_server(evaluate: Evaluate) -> None:
    for operator, values, expected, is_true in CASES["comparisons"]:
        result = evaluate(comparison_form(operator, expected), {0: values})
        assert (1 in result["visible"]) == is_true, (operator, values, expected)


def test_script_validates_answers_as_server(evaluate: Evaluate) -> None:
    for definition, values, code in CASES["answers"]:
        result = evaluate(answer_form(definition), {0: values})
        assert result["errors"] == {"0": code}, (definition, values)


@settings(max_examples=300)
@given(forms_and_submissions())
def test_script_and_server_agree_on_generated_forms(
    evaluate: Evaluate, case: tuple[SavedContactForm, list[SubmittedAnswer]]
) -> None:
    form, answers = case
    questionnaire = Questionnaire.of(form)
    numbers = numbers_of(questionnaire)
    known = {
        answer.id: answer.values
        for answer in reversed(answers)
        if answer.id in questionnaire.fields
    }
    result = evaluate(questionnaire, {numbers[key]: values for key, values in known.items()})
    visible = questionnaire.visible_fields(known)
    assert result["visible"] == sorted(numbers[field_id] for field_id in visible)
    for field_id, values in known.items():
        error = result["errors"][str(numbers[field_id])]
        if error and field_id in visible:
            complete = [
                SubmittedAnswer.model_validate({"id": other, "values": texts})
                for other, texts in known.items()
            ]
            assert error_code(questionnaire, complete), (error, values)
