"""The operators with which fields depend on answers and workflows choose feedback.

What is compared is always text. Where both sides are numbers they compare as numbers, otherwise
as text, code point by code point, which also puts dates written ``YYYY-MM-DD`` in their order.
"""

import json
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Final

_NUMBER: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_NUMBER_LIMIT: Final = 100


class Combination(StrEnum):
    """How several conditions become one."""

    AND = "$and"
    OR = "$or"

    def of(self, truths: Iterable[bool]) -> bool:
        """Whether all of them hold, or for ``$or`` at least one of them."""
        return all(truths) if self is Combination.AND else any(truths)


class Comparator(StrEnum):
    """How what was given is compared with what is expected."""

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
    """Whether the given values, none when nothing was given, compare so with what is expected.

    A comparison holds when any one of the values satisfies it. ``$ne`` and ``$nin`` are the
    opposites of ``$eq`` and ``$in``, so they hold when nothing was given. ``$contains`` looks for
    a part of a text. ``$exists`` expects ``true`` or ``false``. ``$in`` and ``$nin`` expect a list
    as `listed` reads it.
    """
    match comparator:
        case Comparator.EQ:
            return any(equal(value, expected) for value in given)
        case Comparator.NE:
            return not any(equal(value, expected) for value in given)
        case Comparator.IN:
            return _any_listed(given, expected)
        case Comparator.NIN:
            return not _any_listed(given, expected)
        case Comparator.GT:
            return any(_order(value, expected) > 0 for value in given)
        case Comparator.GTE:
            return any(_order(value, expected) >= 0 for value in given)
        case Comparator.LT:
            return any(_order(value, expected) < 0 for value in given)
        case Comparator.LTE:
            return any(_order(value, expected) <= 0 for value in given)
        case Comparator.CONTAINS:
            return any(expected in value for value in given)
        case Comparator.EXISTS:
            return bool(given) == (expected != "false")


def equal(one: str, other: str) -> bool:
    """Whether two texts are the same, or the same number."""
    return one == other or _order(one, other) == 0


def listed(text: str) -> list[str]:
    """The texts of a list: a JSON array of strings, or texts separated by commas."""
    if text.startswith("["):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError):
            items = None
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return items
    return [item.strip() for item in text.split(",")]


def as_number(text: str) -> Decimal | None:
    """The decimal number that a text is, or None.

    No exponents, spaces or infinities, and at most 100 characters, so that comparing is quick
    whatever is given.
    """
    return Decimal(text) if len(text) <= _NUMBER_LIMIT and _NUMBER.fullmatch(text) else None


def _any_listed(given: Sequence[str], expected: str) -> bool:
    if not given:
        return False
    items = listed(expected)
    return any(equal(value, item) for value in given for item in items)


def _order(one: str, other: str) -> int:
    """Negative, zero or positive as ``one`` comes before, with or after ``other``."""
    left, right = as_number(one), as_number(other)
    if left is not None and right is not None:
        return (left > right) - (left < right)
    return (one > other) - (one < other)
