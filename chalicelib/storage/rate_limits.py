"""The table of rate limits: counters that vanish some time after their window has ended."""

from typing import Final

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import UpdateError

from chalicelib.domain.errors import Unavailable
from chalicelib.storage.table import Table

_KEPT_AFTER_ITS_END_S: Final = 3600


class RateLimitRow(Table):
    """How often something was asked in one window."""

    class Meta:
        name = "rate-limits"

    key = UnicodeAttribute(hash_key=True)
    asked = NumberAttribute()
    expires_at = NumberAttribute()


def count(key: str, ends_at: int) -> int:
    """Raises the counter of a window that ends at this epoch second, and answers it. One request.

    Raises:
        Unavailable: it cannot be counted.
    """
    row = RateLimitRow(key)
    try:
        row.update(
            [
                RateLimitRow.asked.add(1),
                RateLimitRow.expires_at.set(ends_at + _KEPT_AFTER_ITS_END_S),
            ]
        )
    except UpdateError as error:
        raise Unavailable("The counter cannot be raised.") from error
    return int(row.asked)
