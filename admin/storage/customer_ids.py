"""Read the customer ids of all tables that contain them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.purchases import PurchaseRow
from chalicelib.storage.solicitations import SolicitationRow
from chalicelib.storage.trackers import TrackerRow

_TABLES: Final[tuple[tuple[Any, str], ...]] = (
    (CustomerRow, "id"),
    (PurchaseRow, "customer_id"),
    (FeedbackRow, "customer_id"),
    (SolicitationRow, "customer_id"),
    (TrackerRow, "customer_id"),
)
"""The tables, each with its attribute that contains a customer id. Customers come first."""


def scan() -> Iterator[tuple[str, str, datetime]]:
    """Yield the account, the customer and the creation time of each record with a customer.

    Reads the tables completely, with one consistent request per MB.
    """
    for row, attribute in _TABLES:
        names = ["account_id", attribute, "created_at"]
        for record in row.scan(
            getattr(row, attribute).exists(), attributes_to_get=names, consistent_read=True
        ):
            yield record.account_id, getattr(record, attribute), record.created_at
