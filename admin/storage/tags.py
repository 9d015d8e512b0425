"""Read, create and change the tags of accounts and of customers."""

from collections.abc import Collection, Sequence
from datetime import datetime

from chalicelib.domain.accounts.tags import Tag
from chalicelib.domain.customers.customer import Customer
from chalicelib.storage.customers import CustomerRow, customer_key
from chalicelib.storage.dynamodb.table import Key, read_together
from chalicelib.storage.dynamodb.transactions import create, try_write
from chalicelib.storage.places import TAG, PlaceRow, build_tags, tag_key


def find_tags(account_id: str, tag_ids: Collection[str]) -> dict[str, Tag]:
    """Load up to 100 tags of the account by id. Omit missing tags. One consistent request."""
    rows = read_together(*(Key(PlaceRow, account_id, tag_key(tag_id)) for tag_id in tag_ids))
    return {tag.id: tag for tag in build_tags(row for row in rows if row)}


def create_tag(account_id: str, tag: Tag) -> bool:
    """Create a tag. Return False if it exists."""
    row = Key(PlaceRow, account_id, tag_key(tag.id)).row()
    row.kind, row.name, row.color = TAG, tag.tag, tag.color
    row.created_at, row.updated_at = tag.created_at, tag.updated_at
    return create(PlaceRow, row.attribute_values)


def set_tag_color(account_id: str, tag_id: str, color: str, now: datetime) -> None:
    """Set the colour of an existing tag."""
    row = Key(PlaceRow, account_id, tag_key(tag_id)).row()
    row.color, row.updated_at = color, now
    row.update(row.assignments())


def set_tags(account_id: str, seen: Customer, tag_ids: Sequence[str], now: datetime) -> bool:
    """Replace the tags of a customer. Return False if the customer has changed or was erased.

    One AWS request.
    """
    row = customer_key(account_id, seen.id).row()
    row.tag_ids, row.updated_at = list(tag_ids) or None, now
    actions = [*row.assignments(), CustomerRow.revision.add(1)]
    return try_write(lambda: row.update(actions, CustomerRow.updated_at == seen.updated_at))
