"""Display purchases."""

from collections.abc import Sequence

from admin.terminal import show_table
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.purchases.purchase import Purchase


def show_purchases(directory: Directory, purchases: Sequence[Purchase]) -> None:
    """Print one row for each purchase."""
    show_table(
        ["Source", "External id", "Date", "Store", "Id"],
        [
            [p.source, p.external_id, p.date, directory.name_of(p.store_id) or p.store_id, p.id]
            for p in purchases
        ],
        wide=["Id"],
    )
