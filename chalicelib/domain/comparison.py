"""Evaluate the comparisons in field dependencies and workflow conditions.

All operands are text. Two numbers are compared numerically; otherwise the operands are compared by
code point. The order by code point is correct for dates of the form ``YYYY-MM-DD``.
"""

import json
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from chalicelib.domain.schema import Choice

_NUMBER: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_MAX_NUMBER_LENGTH: Final = 100


class Combination(Choice):
    """Logical operator that combines the results of several conditions."""

    AND = "$and"
    OR = "$or"

    def of(self, results: Iterable[bool]) -> bool:
        """Return True if all (``$and``) or at least one (``$or``) of the results are true."""
        return all(results) if self is Combination.AND else any(results)


class Comparator(Choice):
    """Operator that compares actual values, such as those of an answer, with an expected value."""

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


def evaluate(comparator: Comparator, actual: Sequence[str], expected: str) -> bool:
    """Return whether the actual values satisfy the comparison with the expected value.

    At least one actual value must satisfy the comparison. ``$ne`` and ``$nin`` negate ``$eq`` and
    ``$in``, so they are true if there are no actual values. ``$contains`` searches for a substring.
    ``$exists`` with ``true`` requires at least one actual value; ``$exists`` with ``false``
    requires that there are no actual values. ``$in`` and ``$nin`` expect a list in a format that
    `parse_list` accepts.
    """
    match comparator:
        case Comparator.EQ:
            return any(equal(value, expected) for value in actual)
        case Comparator.NE:
            return not any(equal(value, expected) for value in actual)
        case Comparator.IN:
            return _is_any_in_list(actual, expected)
        case Comparator.NIN:
            return not _is_any_in_list(actual, expected)
        case Comparator.GT:
            return any(_compare(value, expected) > 0 for value in actual)
        case Comparator.GTE:
            return any(_compare(value, expected) >= 0 for value in actual)
        case Comparator.LT:
            return any(_compare(value, expected) < 0 for value in actual)
        case Comparator.LTE:
            return any(_compare(value, expected) <= 0 for value in actual)
        case Comparator.CONTAINS:
            return any(expected in value for value in actual)
        case Comparator.EXISTS:
            return bool(actual) == (expected != "false")


def equal(left: str, right: str) -> bool:
    """Return whether two texts are identical or represent the same number."""
    return left == right or _compare(left, right) == 0


def parse_list(text: str) -> list[str]:
    """Parse a JSON array of strings. Parse any other text as a comma-separated list."""
    if text.startswith("["):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError):
            items = None
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return items
    return [item.strip() for item in text.split(",")]


def as_number(text: str) -> Decimal | None:
    """Parse a decimal number. Return None if the text is not a decimal number.

    Exponents, spaces and infinities are invalid. A text of more than 100 characters is never a
    number; this limit keeps comparisons fast.
    """
    return Decimal(text) if len(text) <= _MAX_NUMBER_LENGTH and _NUMBER.fullmatch(text) else None


def _is_any_in_list(actual: Sequence[str], expected: str) -> bool:
    if not actual:
        return False
    # Respondents can send 1,000 values. Sets avoid a comparison of each value with each item.
    items = set(parse_list(expected))
    numbers = {number for item in items if (number := as_number(item)) is not None}
    return any(value in items or as_number(value) in numbers for value in actual)


def _compare(left: str, right: str) -> int:
    """Return -1, 0 or 1 if the left operand is less than, equal to or greater than the right."""
    left_number, right_number = as_number(left), as_number(right)
    if left_number is not None and right_number is not None:
        return (left_number > right_number) - (left_number < right_number)
    return (left > right) - (left < right)
