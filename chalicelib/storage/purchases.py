"""The table of purchases."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.list_cursor import CursorPosition
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.storage import counters
from chalicelib.storage.counters import Counted
from chalicelib.storage.customers import build_customer, customer_key
from chalicelib.storage.dynamodb.attributes import (
    IntegerAttribute,
    JsonAttribute,
    TimestampAttribute,
    optional,
)
from chalicelib.storage.dynamodb.indexes import index
from chalicelib.storage.dynamodb.table import (
    Key,
    Table,
    account_key,
    find_row,
    read_indexed,
    read_together,
)
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.lists import read_index_page


class PurchaseRow(Table):
    """The table row of a purchase. The id is derived from the source and the external id.

    ``input_hash`` is the hash of the input from which the version was recorded; None after an
    erasure of the customer. ``sent_at`` is the time at which the partner sent the version.
    """

    class Meta:
        name = "purchases"

    key = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    id = UnicodeAttribute()
    created_at = TimestampAttribute()
    updated_at = TimestampAttribute()
    store_id = UnicodeAttribute()
    customer_id = optional(UnicodeAttribute)
    date = TimestampAttribute()
    start_date = TimestampAttribute()
    end_date = TimestampAttribute()
    external_id = UnicodeAttribute()
    source = UnicodeAttribute()
    metadata = optional(JsonAttribute[Mapping[str, object]])
    attributes = optional(JsonAttribute[Sequence[Mapping[str, object]]])
    by_customer = index("customer_id", "created_at")
    revision = optional(IntegerAttribute)
    input_hash = optional(UnicodeAttribute)
    sent_at = TimestampAttribute()
    send_at = optional(TimestampAttribute)


def purchase_key(account_id: str, purchase_id: str) -> Key[PurchaseRow]:
    """Return the key of a purchase's row."""
    return Key(PurchaseRow, account_key(account_id, purchase_id))


def find(account_id: str, purchase_id: str) -> Purchase | None:
    """Load a purchase of the account, without its customer and its store's name.

    Return None if it does not exist. One consistent request.
    """
    row = find_row(purchase_key(account_id, purchase_id))
    return build_purchase_from(row) if row else None


def find_with_customer(
    account_id: str, purchase_id: str, customer_id: str | None
) -> tuple[Purchase | None, Customer | None]:
    """Load a purchase and, if there is an id, a customer of the account. One consistent request."""
    if customer_id is None:
        return find(account_id, purchase_id), None
    key = purchase_key(account_id, purchase_id)
    key_of_customer = customer_key(account_id, customer_id)
    read = Rows()
    read.prefetch(key, key_of_customer)
    purchase, customer = read.known(key), read.known(key_of_customer)
    return (
        build_purchase_from(purchase) if purchase else None,
        build_customer(customer) if customer else None,
    )


def record(rows: Rows, account_id: str, purchase: Purchase) -> PurchaseRow:
    """Create a purchase or replace its stored version in this unit of work. Return its row.

    A new purchase is added to the account's count.
    """
    key = purchase_key(account_id, purchase.id)
    row = rows.get(key)
    if row is None:
        counters.count(rows, account_id, Counted.PURCHASES, purchase.id)
        row = rows.create(key)
        row.account_id, row.id, row.created_at = account_id, purchase.id, purchase.created_at
        row.source, row.external_id = purchase.source, purchase.external_id
    row.updated_at, row.store_id = purchase.updated_at, purchase.store_id
    row.customer_id, row.send_at = purchase.customer_id, purchase.send_at
    row.date, row.start_date, row.end_date = purchase.date, purchase.start_date, purchase.end_date
    row.metadata = purchase.metadata or None
    row.attributes = [value.model_dump(mode="json") for value in purchase.attributes] or None
    return row


def of_customer(account_id: str, customer_id: str) -> Iterator[Purchase]:
    """Yield the customer's purchases; see `rows_of_customer`."""
    return map(build_purchase_from, rows_of_customer(account_id, customer_id))


def rows_of_customer(account_id: str, customer_id: str) -> Iterator[PurchaseRow]:
    """Yield the customer's purchases. One request per MB of index entries and per 100 purchases."""
    for row in read_indexed(PurchaseRow.by_customer.query(customer_id)):
        if row.account_id == account_id and row.customer_id == customer_id:
            yield row


def list_page_of_customer(
    account_id: str, customer_id: str, after: CursorPosition | None, at_most: int
) -> tuple[list[CursorPosition], bool]:
    """Load the positions of the customer's purchases, and whether the list ends with them.

    One request. The index is eventually consistent.

    Args:
        after: the position of the last purchase of the preceding page.
    """
    prefix = account_key(account_id, "")
    key = ("customer_id", customer_id)
    return read_index_page(PurchaseRow.by_customer, key, "key", after, at_most, prefix)


def find_many(account_id: str, purchase_ids: Collection[str]) -> dict[str, Purchase]:
    """Load up to 100 purchases by id. Omit missing purchases. One consistent request."""
    rows = read_together(*(purchase_key(account_id, id_) for id_ in purchase_ids))
    return {row.id: build_purchase_from(row) for row in rows if row}


def erase_customer(row: PurchaseRow, at: datetime) -> None:
    """Remove the customer, the metadata and the attributes of a purchase of a unit of work."""
    row.customer_id = row.metadata = row.attributes = row.input_hash = None
    row.updated_at = at


def build_purchase_from(row: PurchaseRow) -> Purchase:
    """Build a purchase from its table row."""
    return Purchase.model_validate(row.attribute_values)
