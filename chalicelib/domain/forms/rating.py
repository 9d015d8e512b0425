"""Ratings: every answer to a rating field, brought to 0 to 10."""

from typing import Final

from chalicelib.domain.forms.fields import FieldType

_AS_IT_IS: Final = frozenset({FieldType.NPS, FieldType.RATING})
_ONE_TO_FIVE: Final = frozenset({FieldType.CSAT_STAR, FieldType.CSAT_SMILEY})
_SATISFIED: Final = "satisfied"

RATING_TYPES: Final = frozenset({*_AS_IT_IS, *_ONE_TO_FIVE, FieldType.BINARY})
"""The types of field that rate."""


def rating_of(kind: FieldType, value: str) -> int | None:
    """The rating that an answer gives, 0 to 10; None where the field does not rate.

    The value must be one that the field takes.
    """
    if kind in _AS_IT_IS:
        return int(value)
    if kind in _ONE_TO_FIVE:
        return int(value) * 2
    if kind is FieldType.BINARY:
        return 10 if value == _SATISFIED else 0
    return None
