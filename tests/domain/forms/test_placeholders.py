"""Tests of placeholders in the texts of forms."""

import time

import pytest

from admin.domain.forms.rules import unknown_names
from chalicelib.domain.forms.placeholders import NAMES, fill, form_names
from chalicelib.domain.forms.survey import SavedSurvey
from tests.domain.forms.factories import saved_survey

VISIT = {"store": "Lyon", "brand": "Maison Lumen", "date": "20 November 2026", "firstName": "Zoé"}


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("Plain {} text", VISIT, "Plain {} text"),
        ("{store}, {brand}, {date}, {firstName}", VISIT, ", ".join(VISIT.values())),
        ("Thank you, {firstName}!", VISIT, "Thank you, Zoé!"),
        ("Thank you, {firstName}!", {}, "Thank you!"),
        ("{firstName}, how was it?", {}, "how was it?"),
        ("شكرًا، {firstName}!", {}, "شكرًا!"),
        ("At {store|our house}", VISIT, "At Lyon"),
        ("At {store|our house}", {"store": ""}, "At our house"),
        ("At {store|}", {}, "At"),
        ("{unknown}", VISIT, ""),
        ("{ store } {2}", VISIT, "{ store } {2}"),
        ("{store}", {"store": "{date}"}, "{date}"),
    ],
)
def test_placeholders_are_replaced(text: str, values: dict[str, str], expected: str) -> None:
    assert fill(text, values) == expected


def test_titles_that_were_saved_without_limit_are_filled_in_linear_time() -> None:
    title = "Hello" + " " * 20_000 + "{store"
    saved = saved_survey(header={"title": "Hello"}).model_dump_json(by_alias=True)
    stored = SavedSurvey.model_validate_json(saved.replace('"Hello"', f'"{title}"'))
    start = time.process_time()
    assert fill(stored.header.title, VISIT) == title
    assert time.process_time() - start < 0.1


def test_unknown_names_are_found() -> None:
    assert list(unknown_names("{store} {shop} {shop2|x} {a b} {}")) == ["shop", "shop2"]
    assert not any(list(unknown_names(f"{{{name}}}")) for name in NAMES)


def test_names_of_a_form_come_from_all_texts_and_languages() -> None:
    survey = saved_survey(
        header={"title": "{store}"},
        submission={"subtitle": "{date|today}"},
        translations={"fr": {"submission": {"title": "Merci {firstName}"}}},
    )
    assert form_names(survey) == {"store", "date", "firstName"}
