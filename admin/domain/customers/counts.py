"""The counts that are stored with a customer."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class CustomerCounts:
    """The numbers of a customer's purchases and feedback records, and the sum of the ratings."""

    purchase_count: int
    feedback_count: int
    rating_sum: int
    rating_count: int

    @classmethod
    def of(cls, purchases: int, ratings: Iterable[int | None]) -> Self:
        """Count a customer's records.

        Args:
            ratings: the rating of each feedback record, or None if it has no rating.
        """
        every = list(ratings)
        rated = [rating for rating in every if rating is not None]
        return cls(purchases, len(every), sum(rated), len(rated))
