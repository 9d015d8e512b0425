"""Save brands and stores."""

from collections.abc import Iterable
from typing import Any

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.places import Place
from chalicelib.storage import account_changes
from chalicelib.storage.dynamodb.unit_of_work import transaction
from chalicelib.storage.places import PlaceRow


def save(
    account_id: str, place: Place, earlier: Place | None, changes: Iterable[AccountChange]
) -> None:
    """Create or replace a brand or a store, and add changes to the account's history.

    Args:
        earlier: the place as it was read; None for a new place.

    Raises:
        Contention: the place has been created, or its kind has changed, since it was read.
    """
    values: dict[str, Any] = {name: value or None for name, value in place if name != "id"}
    with transaction() as write:
        unchanged = PlaceRow.has(kind=place.kind if earlier else None)
        write.save(PlaceRow(account_id, place.id, **values), unchanged)
        account_changes.add(write, account_id, changes)
