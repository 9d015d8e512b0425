"""Placeholders in the titles and subtitles of a form, such as ``{store}`` or ``{store|our house}``.

The partner view contains the template. Public views, pages and messages contain the text.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeVar

from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.presentation import Header, Submission
from chalicelib.domain.forms.translation import FormTranslation

_Titled = TypeVar("_Titled", Header, Submission)

NAMES: Final = ("store", "brand", "date", "firstName")
"""The names that a text can contain: store, brand, date of the visit, customer's first name."""

PLACEHOLDER: Final = re.compile(
    r"(?<![\s,،、])(?P<before>[\s,،、]*+)\{(?P<name>[A-Za-z]\w*+)(?:\|(?P<else>[^{}]*+))?\}"
)
"""A placeholder, and the commas and spaces before it.

Without the first condition, the search would continue at each of the spaces, and the time would
grow with the square of their number.
"""
_START: Final = re.compile(r"^[\s,،、.!]+")


def names_in(text: str) -> set[str]:
    """Return the names of the placeholders in a text."""
    return {match["name"] for match in PLACEHOLDER.finditer(text)}


def form_names(form: SavedForm) -> set[str]:
    """Return the names of the placeholders in the texts of a form, in all languages."""
    languages: list[SavedForm | FormTranslation] = [form, *form.translations.values()]
    return {
        name
        for texts in languages
        for part in (texts.header, texts.submission, *texts.thanks)
        for name in names_in(f"{part.title} {part.subtitle}")
    }


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace the placeholders of a text by their values.

    A name without a value is replaced by its fallback. Without a fallback, the placeholder is
    removed, together with the comma and the space before it.
    """
    if "{" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        filled = values.get(match["name"]) or match["else"] or ""
        return match["before"] + filled if filled else ""

    filled = PLACEHOLDER.sub(value, text)
    return filled if filled == text else _START.sub("", filled)


def fill_titles(part: _Titled, values: Mapping[str, str]) -> _Titled:
    """Return a header or a thank-you text with the placeholders of title and subtitle replaced."""
    texts = {"title": fill(part.title, values), "subtitle": fill(part.subtitle, values)}
    return part.model_copy(update=texts)
