"""The table of brands and stores, loaded as one directory per account."""

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.storage.dynamodb.table import Table
from chalicelib.storage.dynamodb.transactions import try_write


class PlaceRow(Table):
    """The table row of a brand or a store."""

    class Meta:
        name = "places"

    account_id = UnicodeAttribute(hash_key=True)
    place_id = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute()
    name = UnicodeAttribute()
    color = UnicodeAttribute(null=True)
    brand_id = UnicodeAttribute(null=True)


def save(account_id: str, place: Place) -> bool:
    """Create or replace a brand or a store.

    Return False if the id is already used by a place of the other kind: a brand and a store cannot
    have the same id.
    """
    row = PlaceRow(
        account_id,
        place.id,
        kind=place.kind.value,
        name=place.name,
        color=place.color or None,
        brand_id=place.brand_id,
    )
    return try_write(
        lambda: row.save(PlaceRow.kind.does_not_exist() | (PlaceRow.kind == place.kind.value))
    )


def load_directory(account_id: str, *, consistent: bool = False) -> Directory:
    """Load the account's brands and stores, sorted by name."""
    rows = PlaceRow.query(account_id, consistent_read=consistent)
    places = (
        Place(
            id=row.place_id,
            kind=PlaceKind(row.kind),
            name=row.name,
            color=row.color or "",
            brand_id=row.brand_id,
        )
        for row in rows
    )
    return Directory.of(sorted(places, key=lambda place: (place.name, place.id)))
