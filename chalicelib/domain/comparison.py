"""Comparison operators of field dependencies and workflow conditions.

All operands are text. Two numbers are compared numerically; otherwise the operands are compared by
code point, which also orders dates of the form ``YYYY-MM-DD``.
"""

import json
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Final

_NUMBER: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_MAX_NUMBER_LENGTH: Final = 100


class Combination(StrEnum):
    """How the results of several conditions combine."""

    AND = "$and"
    OR = "$or"

    def of(self, results: Iterable[bool]) -> bool:
        """Return True if all results are true; for ``$or``, if at least one is true."""
        return all(results) if self is Combination.AND else any(results)


class Comparator(StrEnum):
    """How given values are compared with an expected value."""

    EQ = "$eq"
    NE = "$ne"
    IN = "$in"
    NIN = "$nin"
    GT = "$gt"
    GTE = "$gte"
    LT = "$lt"
    LTE = "$lte"
    CONTAINS = "$contains"
    EXISTS = "$exists"


def evaluate(comparator: Comparator, given: Sequence[str], expected: str) -> bool:
    """Return the result of a comparison.

    A comparison is true if at least one given value satisfies it. ``$ne`` and ``$nin`` negate
    ``$eq`` and ``$in``, so they are true if there are no given values. ``$contains`` searches for a
    substring. ``$exists`` expects ``true`` or ``false``. ``$in`` and ``$nin`` expect a list in a
    format that `listed` parses.
    """
    match comparator:
        case Comparator.EQ:
            return any(equal(value, expected) for value in given)
        case Comparator.NE:
            return not any(equal(value, expected) for value in given)
        case Comparator.IN:
            return _is_any_listed(given, expected)
        case Comparator.NIN:
            return not _is_any_listed(given, expected)
        case Comparator.GT:
            return any(_compare(value, expected) > 0 for value in given)
        case Comparator.GTE:
            return any(_compare(value, expected) >= 0 for value in given)
        case Comparator.LT:
            return any(_compare(value, expected) < 0 for value in given)
        case Comparator.LTE:
            return any(_compare(value, expected) <= 0 for value in given)
        case Comparator.CONTAINS:
            return any(expected in value for value in given)
        case Comparator.EXISTS:
            return bool(given) == (expected != "false")


def equal(one: str, other: str) -> bool:
    """Return True if two texts are identical or represent the same number."""
    return one == other or _compare(one, other) == 0


def listed(text: str) -> list[str]:
    """Parse a JSON array of strings or, if the text is not one, a comma-separated list."""
    if text.startswith("["):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError):
            items = None
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return items
    return [item.strip() for item in text.split(",")]


def as_number(text: str) -> Decimal | None:
    """Parse a decimal number. Return None if the text is not one.

    Exponents, spaces and infinities are invalid. The length limit of 100 characters bounds the time
    of a comparison.
    """
    return Decimal(text) if len(text) <= _MAX_NUMBER_LENGTH and _NUMBER.fullmatch(text) else None


def _is_any_listed(given: Sequence[str], expected: str) -> bool:
    if not given:
        return False
    items = listed(expected)
    return any(equal(value, item) for value in given for item in items)


def _compare(one: str, other: str) -> int:
    """Return a negative number, zero or a positive number if one is less, equal or greater."""
    left, right = as_number(one), as_number(other)
    if left is not None and right is not None:
        return (left > right) - (left < right)
    return (one > other) - (one < other)
