"""The result of a sweep."""

from typing import NamedTuple


class Swept(NamedTuple):
    """The result of a sweep.

    Attributes:
        records: the number of requeued records.
        oldest_s: the age of the oldest of them in seconds, from the time at which it was ready; 0
            without records.
    """

    records: int = 0
    oldest_s: int = 0
