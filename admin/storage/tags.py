"""Read, create and change the tags of accounts."""

from collections.abc import Collection

from chalicelib.domain.accounts.tags import Tag
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.places import TAG, PlaceRow, build_tags, tag_key


def fetch_tags(rows: Rows, account_id: str, tag_ids: Collection[str]) -> dict[str, Tag]:
    """Return tags of the account by id. Omit missing tags. One request per 100 tags."""
    keys = [_key(account_id, tag_id) for tag_id in tag_ids]
    rows.prefetch(*keys)
    found = (rows.peek(key, because="the last colour of a tag stays") for key in keys)
    return {tag.id: tag for tag in build_tags(filter(None, found))}


def create_tag(rows: Rows, account_id: str, tag: Tag) -> None:
    """Create a tag in this unit of work."""
    row = rows.create(_key(account_id, tag.id))
    row.kind, row.name, row.color = TAG, tag.tag, tag.color
    row.created_at, row.updated_at = tag.created_at, tag.updated_at


def set_tag_color(rows: Rows, account_id: str, tag: Tag) -> None:
    """Set the colour of an existing tag in this unit of work."""
    rows.set(_key(account_id, tag.id), PlaceRow.color, tag.color)
    rows.set(_key(account_id, tag.id), PlaceRow.updated_at, tag.updated_at)


def _key(account_id: str, tag_id: str) -> Key[PlaceRow]:
    return Key(PlaceRow, account_id, tag_key(tag_id))
