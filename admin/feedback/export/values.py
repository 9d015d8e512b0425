"""Join the values of one answer into one text, and split such a text into the values."""

import re
from collections.abc import Sequence
from typing import Final

SEPARATOR: Final = "; "
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_SEPARATED: Final = re.compile(r"((?:[^\\;]|\\.)*)(?:; |\Z)", re.DOTALL)


def join_values(values: Sequence[str]) -> str:
    """Join values with ``; ``. A backslash precedes each backslash and semicolon of a value."""
    return SEPARATOR.join(re.sub(r"([\\;])", r"\\\1", value) for value in values)


def split_values(text: str) -> list[str]:
    """Return the values that `join_values` joined. No value is empty."""
    *values, _end = _SEPARATED.findall(text)
    return [_ESCAPED.sub(r"\1", value) for value in values]
