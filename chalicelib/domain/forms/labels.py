"""Labels: parameters of links, such as the number of a table, which feedback contains.

A form names its labels with their allowed values. Free text is not possible: anybody could write
the address of a person into a link.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field

from chalicelib.domain.forms.part import Part
from chalicelib.domain.input_errors import InputError

LABEL_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
MAX_LABELS: Final = 10
MAX_LABEL: Final = 100
"""The maximum number of characters of a value."""
LabelValues = Annotated[
    dict[str, Annotated[str, Field(max_length=MAX_LABEL)]], Field(max_length=MAX_LABELS)
]
"""Labels in a request, by name."""
MAX_DIGITS: Final = 6
"""The maximum number of digits of a label. Phone numbers and dates of birth have more."""


class LabelRule(Part):
    """The allowed values of a label: either a list, or numbers."""

    values: list[str] = Field(default=[], max_length=1000, description="The allowed values.")
    max_digits: int = Field(
        default=0,
        ge=0,
        le=MAX_DIGITS,
        description="Instead of `values`: a value has 1 digit to this number of digits, at most"
        f" {MAX_DIGITS}.",
    )

    def allows(self, value: str) -> bool:
        """Return whether the label can have this value."""
        is_number = value.isascii() and value.isdigit() and len(value) <= self.max_digits
        return is_number or value in self.values


def allowed_labels(rules: Mapping[str, LabelRule], given: Mapping[str, str]) -> dict[str, str]:
    """Return the labels that the form declares and that have an allowed value."""
    return {n: given[n] for n, rule in rules.items() if n in given and rule.allows(given[n])}


def label_errors(rules: Mapping[str, LabelRule], given: Mapping[str, str]) -> list[InputError]:
    """Return the errors of labels that the form does not declare or allow."""
    errors = []
    for name, value in given.items():
        if name not in rules:
            errors.append(InputError.at(("labels", name), "unknown_key", "Unknown label."))
        elif not rules[name].allows(value):
            detail = "Must be one of the values that the form allows."
            errors.append(InputError.at(("labels", name), "not_allowed", detail))
    return errors
