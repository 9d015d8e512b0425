"""Read the customer ids of all tables that contain them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.purchases import PurchaseRow
from chalicelib.storage.solicitations import SolicitationRow
from chalicelib.storage.trackers import TrackerRow


def scan() -> Iterator[tuple[str, str, datetime]]:
    """Yield the account, the customer and the creation time of each record with a customer.

    Customers come first. Reads the tables completely, with one consistent request per MB.
    """
    tables: tuple[Any, ...] = CustomerRow, PurchaseRow, FeedbackRow, SolicitationRow, TrackerRow
    for row in tables:
        attribute = "id" if row is CustomerRow else "customer_id"
        names = ["account_id", attribute, "created_at"]
        for record in row.scan(
            getattr(row, attribute).exists(), attributes_to_get=names, consistent_read=True
        ):
            yield record.account_id, getattr(record, attribute), record.created_at
