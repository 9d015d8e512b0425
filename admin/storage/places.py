"""Save brands and stores."""

from chalicelib.domain.accounts.places import Place
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.places import PlaceRow, build_place


def fetch(rows: Rows, account_id: str, place_id: str) -> Place | None:
    """Return a brand or a store in a unit of work, which relies on its version. One request.

    None if it does not exist.
    """
    key = Key(PlaceRow, account_id, place_id)
    rows.prefetch(key)
    row = rows.get(key)
    return build_place(row) if row else None


def save(rows: Rows, account_id: str, place: Place) -> None:
    """Create or replace a brand or a store in a unit of work, which has fetched it."""
    key = Key(PlaceRow, account_id, place.id)
    row = rows.get(key) or rows.create(key)
    row.kind, row.name, row.key = place.kind.value, place.name, place.key or None
    row.color, row.brand_id, row.time_zone = place.color or None, place.brand_id, place.time_zone
    row.address, row.legal_text = place.address or None, place.legal_text or None
