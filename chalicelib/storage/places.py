"""The table of brands, stores and tags, loaded as one directory per account."""

from collections.abc import Iterable
from typing import Final

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.places import Directory, Place
from chalicelib.domain.accounts.tags import Tag
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, TimestampAttribute, optional
from chalicelib.storage.dynamodb.table import Table

TAG: Final = "TAG"
"""The kind of a tag's row."""


class PlaceRow(Table):
    """The table row of a brand, a store or a tag. The key of a tag is ``tag#`` and its id."""

    class Meta:
        name = "places"

    account_id = UnicodeAttribute(hash_key=True)
    place_id = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute()
    name = UnicodeAttribute()
    key = optional(UnicodeAttribute)
    color = optional(UnicodeAttribute)
    brand_id = optional(UnicodeAttribute)
    time_zone = optional(UnicodeAttribute)
    address = optional(UnicodeAttribute)
    legal_text = optional(UnicodeAttribute)
    created_at = optional(TimestampAttribute)
    updated_at = optional(TimestampAttribute)
    revision = optional(IntegerAttribute)


def load_directory(account_id: str) -> Directory:
    """Load the account's tags, brands and stores, ordered by name (consistent read)."""
    rows = list(PlaceRow.query(account_id, consistent_read=True))
    places = (build_place(row) for row in rows if row.kind != TAG)
    return Directory.of(sorted(places, key=lambda place: (place.name, place.id)), build_tags(rows))


def build_place(row: PlaceRow) -> Place:
    """Build a brand or a store from its table row."""
    return Place.model_validate({**row.attribute_values, "id": row.place_id})


def tag_key(tag_id: str) -> str:
    """Return the sort key of a tag."""
    return f"tag#{tag_id}"


def build_tags(rows: Iterable[PlaceRow]) -> list[Tag]:
    """Build tags from their table rows, and ignore other rows."""
    return [
        Tag.model_validate(
            {
                **row.attribute_values,
                "id": row.place_id.removeprefix(tag_key("")),
                "tag": row.name,
                "color": row.color,
            }
        )
        for row in rows
        if row.kind == TAG
    ]
