"""Decide with which question a survey starts that asks one question at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.web.pages.fields import DisplayedField
from chalicelib.web.pages.words import PageWords

Row = Sequence[DisplayedField]
"""The fields that a page displays side by side. They are one step."""


@dataclass(frozen=True)
class Steps:
    """The steps of a survey when its page opens.

    Attributes:
        now: the index of the step that the page displays.
        given: the indexes of the steps that are answered already, for example by the link. The page
            displays them only if the respondent goes back.
        is_first: whether no visible step precedes it.
        total: the number of all steps, with the hidden ones.
        progress: the number of the displayed step, as text. It contains the number of visible
            steps only if that number cannot change.
    """

    now: int
    given: frozenset[int]
    is_first: bool
    total: int
    progress: str


def steps_of(
    rows: Sequence[Row], words: PageWords, *, is_conditional: bool, has_store: bool
) -> Steps:
    """Return the steps of a survey.

    Args:
        is_conditional: whether the visibility of some fields depends on answers.
        has_store: whether the page asks for the store after the last field.
    """
    visible = [n for n, row in enumerate(rows) if any(field.is_visible for field in row)]
    visible += [len(rows)] * has_store
    wrong = [n for n in visible if any(field.error for field in _shown(rows, n))]
    given = [n for n in visible[:-1] if all(field.is_answered for field in _shown(rows, n))]
    now = (wrong or [n for n in visible if n not in given] or [0])[0]
    text = words.progress(is_conditional=is_conditional)
    number = visible.index(now) + 1 if visible else 1
    return Steps(
        now=now,
        given=frozenset() if wrong else frozenset(given),
        is_first=number == 1,
        total=len(rows) + has_store,
        progress=text % {"n": number, "total": len(visible)},
    )


def _shown(rows: Sequence[Row], n: int) -> list[DisplayedField]:
    return [field for field in rows[n] if field.is_visible] if n < len(rows) else []
