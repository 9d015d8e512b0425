"""Tests of the question with which a survey starts that asks one question at a time."""

import pytest

from chalicelib.domain.language import Language
from chalicelib.web.pages.fields import DisplayedField
from chalicelib.web.pages.steps import Steps, steps_of
from chalicelib.web.pages.words import page_words


def shown(*, answer: str = "", error: str = "", visible: bool = True) -> DisplayedField:
    return DisplayedField(0, "q0", "n", "input", "L", value=answer, error=error, is_visible=visible)


ASKED, GIVEN, WRONG = shown(), shown(answer="9"), shown(answer="9", error="Wrong.")
HIDDEN = shown(visible=False)


def steps(*rows: list[DisplayedField], conditional: bool = False, store: bool = False) -> Steps:
    words = page_words(Language("en"))
    return steps_of(rows, words, is_conditional=conditional, has_store=store)


@pytest.mark.parametrize(
    ("rows", "store", "now", "given"),
    [
        ([[ASKED], [ASKED]], False, 0, set()),
        ([[GIVEN], [ASKED], [GIVEN], [ASKED]], False, 1, {0, 2}),
        ([[GIVEN, ASKED], [ASKED]], False, 0, set()),
        ([[GIVEN, HIDDEN], [ASKED]], False, 1, {0}),
        ([[HIDDEN], [ASKED]], False, 1, set()),
        ([[GIVEN], [GIVEN]], False, 1, {0}),
        ([[GIVEN], [GIVEN]], True, 2, {0, 1}),
        ([[GIVEN], [ASKED], [WRONG]], False, 2, set()),
        ([[HIDDEN]], False, 0, set()),
        ([], False, 0, set()),
    ],
)
def test_survey_starts_with_first_question_that_needs_an_answer(
    rows: list[list[DisplayedField]], store: bool, now: int, given: set[int]
) -> None:
    found = steps(*rows, store=store)
    assert (found.now, found.given) == (now, given)
    assert found.total == len(rows) + store


def test_progress_counts_visible_steps() -> None:
    rows = [GIVEN], [HIDDEN], [ASKED]
    assert steps(*rows).progress == "Question 2 of 2"
    assert steps(*rows, conditional=True).progress == "Question 2"
    assert not steps(*rows).is_first
    assert steps([ASKED]).is_first
