"""List the customers for whose addresses the service has learned something."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.consent import ConsentPosition
from chalicelib.domain.solicitation.contact import Contact
from chalicelib.storage.contacts import LISTED, ContactRow, build_contact
from chalicelib.storage.customers import build_customer, customer_key
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows


class ListedChange(NamedTuple):
    """The last change of a customer that `record_change` or `record_removal` listed.

    Attributes:
        key: the contact of the customer record.
        learned: the contacts about which something was learned, by channel.
    """

    at: datetime
    key: str
    customer_id: str
    learned: Mapping[Channel, str]


def list_changes(
    account_id: str, position: ConsentPosition, at_most: int
) -> tuple[list[ListedChange], bool]:
    """Return the listed changes from a position on, and whether the list ends with them.

    One request. The index is eventually consistent.
    """
    after = None
    if position.key:
        after = {
            "account_id": {"S": account_id},
            "changed_at": {"S": format_timestamp(position.at)},
            "key": {"S": position.key},
        }
    since = ContactRow.changed_at >= position.at
    found = ContactRow.by_change.query(account_id, since, limit=at_most, last_evaluated_key=after)
    changes = [
        ListedChange(
            row.changed_at,
            row.key,
            row.customer_id,
            {
                channel: key
                for channel, attribute in LISTED.items()
                if (key := row.attribute_values.get(attribute.attr_name))
            },
        )
        for row in found
        if row.changed_at and row.customer_id
    ]
    return changes, found.last_evaluated_key is None


def load(
    account_id: str, changes: Collection[ListedChange]
) -> tuple[dict[str, Customer], dict[str, Contact]]:
    """Load the customers that exist, by id, and the contacts by key.

    One consistent request per 100 customers and contacts.
    """
    customers = [customer_key(account_id, change.customer_id) for change in changes]
    keys = sorted({key for change in changes for key in change.learned.values()})
    contacts = {key: Key(ContactRow, key) for key in keys}
    read = Rows()
    read.prefetch(*customers, *contacts.values())
    found = (read.known(key) for key in customers)
    return {row.id: build_customer(row) for row in found if row}, {
        each: build_contact(each, read.known(key)) for each, key in contacts.items()
    }
