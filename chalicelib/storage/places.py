"""The table of brands, stores and tags, loaded as one directory per account."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Final

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.places import Directory, Place
from chalicelib.domain.accounts.tags import Tag
from chalicelib.storage import account_changes
from chalicelib.storage.dynamodb.attributes import TimestampAttribute
from chalicelib.storage.dynamodb.table import Table, read_together
from chalicelib.storage.dynamodb.transactions import create, transaction

_TAG: Final = "TAG"
"""The kind of a tag's row."""


class PlaceRow(Table):
    """The table row of a brand, a store or a tag. The key of a tag is ``tag#`` and its id."""

    class Meta:
        name = "places"

    account_id = UnicodeAttribute(hash_key=True)
    place_id = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute()
    name = UnicodeAttribute()
    key = UnicodeAttribute(null=True)
    color = UnicodeAttribute(null=True)
    brand_id = UnicodeAttribute(null=True)
    time_zone = UnicodeAttribute(null=True)
    address = UnicodeAttribute(null=True)
    legal_text = UnicodeAttribute(null=True)
    created_at = TimestampAttribute(null=True)
    updated_at = TimestampAttribute(null=True)


def find(account_id: str, place_id: str) -> Place | None:
    """Load a brand or a store, or return None if it does not exist. One consistent request."""
    row = read_together((PlaceRow, account_id, place_id))[0]
    return _place(row) if row else None


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


def load_directory(account_id: str) -> Directory:
    """Load the account's tags, brands and stores, ordered by name (consistent read)."""
    rows = list(PlaceRow.query(account_id, consistent_read=True))
    places = (_place(row) for row in rows if row.kind != _TAG)
    return Directory.of(sorted(places, key=lambda place: (place.name, place.id)), _tags(rows))


def _place(row: PlaceRow) -> Place:
    return Place.model_validate({**row.attribute_values, "id": row.place_id})


def find_tags(account_id: str, tag_ids: Collection[str]) -> dict[str, Tag]:
    """Load up to 100 tags of the account by id. Omit missing tags. One consistent request."""
    rows = read_together(*((PlaceRow, account_id, _tag_key(tag_id)) for tag_id in tag_ids))
    return {tag.id: tag for tag in _tags(row for row in rows if row)}


def create_tag(account_id: str, tag: Tag) -> bool:
    """Create a tag. Return False if it exists."""
    key = {"account_id": account_id, "place_id": _tag_key(tag.id), "kind": _TAG, "name": tag.tag}
    copied = {name: getattr(tag, name) for name in ("color", "created_at", "updated_at")}
    return create(PlaceRow, key | copied)


def set_tag_color(account_id: str, tag_id: str, color: str, now: datetime) -> None:
    """Set the colour of an existing tag."""
    PlaceRow(account_id, _tag_key(tag_id)).update(PlaceRow.changes(color=color, updated_at=now))


def _tag_key(tag_id: str) -> str:
    return f"tag#{tag_id}"


def _tags(rows: Iterable[PlaceRow]) -> list[Tag]:
    return [
        Tag.model_validate(
            {
                **row.attribute_values,
                "id": row.place_id.removeprefix(_tag_key("")),
                "tag": row.name,
                "color": row.color,
            }
        )
        for row in rows
        if row.kind == _TAG
    ]
