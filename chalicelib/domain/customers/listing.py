"""Requests to assign list positions to customers that were created without one."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

REQUEST_INTERVAL: Final = timedelta(seconds=1)
"""Minimum interval between two messages that one process sends for the same account."""

_INDEX_LAG: Final = timedelta(milliseconds=500)


@dataclass(frozen=True)
class ListingPointer:
    """The content of a queue message: a request to list an account's new customers.

    Attributes:
        requested_at: time of the request, in epoch milliseconds.
    """

    account_id: str
    requested_at: int

    @property
    def covers_until(self) -> datetime:
        """The time until which a worker must search for the account's new customers.

        The sender sends at most one request per second. This request therefore also covers the
        customers that the sender creates in the next second. The index shows a new customer after a
        short delay, so the worker searches until this delay has passed too.
        """
        requested = datetime.fromtimestamp(self.requested_at / 1000, UTC)
        return requested + REQUEST_INTERVAL + _INDEX_LAG


def listing_request(account_id: str, now: datetime) -> ListingPointer:
    """Return a request to list the account's new customers."""
    return ListingPointer(account_id, int(now.timestamp() * 1000))
