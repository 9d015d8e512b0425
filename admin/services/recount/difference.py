"""A difference between a stored count or position and the records."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """A difference between a stored count or position and the records.

    Attributes:
        record: the kind and the id of the record, or the name of the list.
        name: the name of the count or of the position.
        is_repaired: whether the difference was repaired. False if repairs were not requested, or if
            the record changed during the check.
    """

    record: str
    name: str
    stored: int | None
    expected: int | None
    is_repaired: bool
