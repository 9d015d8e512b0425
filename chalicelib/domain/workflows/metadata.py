"""Placeholders in the metadata of an action, such as ``{rating}``; ``{{`` is a brace.

Bodies of webhooks are stored, so no placeholder has a personal value.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from chalicelib.domain.feedback.feedback import Feedback

NAMES: Final = ("rating", "store", "form", "language")
"""The names that any feedback has a value for. The other names are those of labels."""

_PLACEHOLDER: Final = re.compile(r"\{(?:\{|(?P<name>[A-Za-z][A-Za-z0-9_-]*)\})")


def names_in(text: str) -> list[str]:
    """Return the names of the placeholders in a text, in order."""
    return [match["name"] for match in _PLACEHOLDER.finditer(text) if match["name"]]


def fill(metadata: Mapping[str, str], value_of: Callable[[str], str]) -> dict[str, str]:
    """Return the metadata with the values of its placeholders."""

    def value(match: re.Match[str]) -> str:
        return value_of(match["name"]) if match["name"] else "{"

    return {key: _PLACEHOLDER.sub(value, text) for key, text in metadata.items()}


def values_of(feedback: Feedback) -> Callable[[str], str]:
    """Return a function that returns the value of a placeholder; ``""`` without a value."""
    rating = "" if feedback.rating is None else str(feedback.rating)
    own = (rating, feedback.store_id or "", feedback.form_id, feedback.language.value)
    values = feedback.labels | dict(zip(NAMES, own, strict=True))
    return lambda name: values.get(name, "")
