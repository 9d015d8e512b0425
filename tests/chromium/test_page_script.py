"""Test in Chromium that the page's script evaluates conditions and answers like the server.

Another test presses on the controls of generated forms.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from playwright.sync_api import Browser

from chalicelib.domain.feedback.answers import Questionnaire, SubmittedAnswer
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.language import Language
from chalicelib.web.pages.assets import asset_text
from chalicelib.web.pages.script_data import script_data
from chalicelib.web.pages.words import page_words
from tests.chromium.browser import serve
from tests.domain.feedback.test_answers_oracle import forms_and_submissions
from tests.domain.forms.factories import depends, field, saved_contact_form
from tests.web.pages.cases import (
    CASES,
    answer_form,
    comparison_form,
    error_code,
    sorted_ids,
)
from tests.web.public.rendered import rendered

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
def evaluate(browser: Browser) -> Iterator[Evaluate]:
    """Return a function that runs the script for a form with these answers by field number."""
    with serve("<!doctype html>") as address, browser.new_page() as page:
        page.goto(address)
        page.evaluate(LOAD, asset_text("page.js"))

        def run(questionnaire: Questionnaire, answers: dict[int, list[str]]) -> dict[str, Any]:
            data = script_data(questionnaire, numbers_of(questionnaire), page_words(Language("en")))
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


# --- presses

PAGE = "http://pages.test/public/contact-form/page"
FOCUS = """([number, choice]) => {
    const controls = 'label:has(input), textarea, select, .field > input, .own > input, button';
    window.controls = [...document.querySelectorAll(controls)]
        .filter(control => control.checkVisibility({visibilityProperty: true}));
    const [field] = document.querySelectorAll(`[data-field="${number}"]`);
    const others = window.controls.filter(control => !field.contains(control));
    const target = others[Math.floor(choice * others.length)];
    field.querySelector(':is(input, textarea, select):not([type=hidden])').focus();
    target.scrollIntoView({block: 'center', behavior: 'instant'});
    const {x, y, width, height} = target.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
}"""
BOXES = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(
    window.controls.map(each => each.innerText + JSON.stringify(each.getBoundingClientRect()))
))))"""


def generated_form(random: Random) -> SavedContactForm:
    """Return a form with a field of every type in random order, limits and conditions."""
    kinds = random.sample([*FieldType], len(FieldType))
    fields = [
        field(
            kind.lower(),
            kind,
            required=random.random() < 0.4,
            verticalIndex=number // random.choice([1, 2]),
            horizontalIndex=number,
        )
        | ({"values": ["One", "Two", "Three"]} if kind.rules.options_from_field else {})
        | ({"allowCustomValue": True} if kind is FieldType.SINGLE_SELECT else {})
        | ({"allowMinReplies": True, "minReplies": 2} if kind is FieldType.MULTI_SELECT else {})
        for number, kind in enumerate(kinds)
    ]
    conditions = [
        depends(kinds[later].lower(), kinds[random.randrange(later)].lower(), ("$exists", exists))
        for later in random.sample(range(1, len(kinds)), 4)
        for exists in random.sample(["true", "false"], 1)
    ]
    return saved_contact_form(fields=fields, fieldDependencies=conditions)


@pytest.mark.parametrize("seed", range(2))
def test_no_control_moves_between_press_and_release(browser: Browser, seed: int) -> None:
    random, page = Random(seed), browser.new_page()
    html = rendered(generated_form(random))
    page.set_viewport_size({"width": random.choice([320, 375, 768]), "height": 667})
    page.route(PAGE, lambda route: route.fulfill(body=html, content_type="text/html"))
    script = {"body": asset_text("page.js"), "content_type": "text/javascript"}
    page.route("**/page.js", lambda route: route.fulfill(**script))
    page.goto(PAGE)
    if seed % 2:
        page.locator("form .send").click()  # displays errors
    for number in random.sample(range(len(FieldType)), len(FieldType)) * 2:
        if page.locator(f'[data-field="{number}"]').is_hidden():
            continue
        page.mouse.move(*page.evaluate(FOCUS, [number, random.random()]))
        page.keyboard.insert_text("foo")
        before = page.evaluate(BOXES)
        page.mouse.down()
        assert page.evaluate(BOXES) == before
        page.mouse.up()
