"""The table of brands and stores, read as one directory an account."""

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.storage.dynamodb.table import Table
from chalicelib.storage.dynamodb.transactions import condition_holds


class PlaceRow(Table):
    """A brand or a store."""

    class Meta:
        name = "places"

    account_id = UnicodeAttribute(hash_key=True)
    place_id = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute()
    name = UnicodeAttribute()
    color = UnicodeAttribute(null=True)
    brand_id = UnicodeAttribute(null=True)


def put(account_id: str, place: Place) -> bool:
    """Creates or replaces a brand or a store; False when the id is a place of the other kind."""
    row = PlaceRow(
        account_id,
        place.id,
        kind=place.kind.value,
        name=place.name,
        color=place.color or None,
        brand_id=place.brand_id,
    )
    return condition_holds(
        lambda: row.save(PlaceRow.kind.does_not_exist() | (PlaceRow.kind == place.kind.value))
    )


def directory(account_id: str, *, consistent: bool = False) -> Directory:
    """All of the account's brands and stores, by name; ``consistent`` sees the latest write."""
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
