"""The table of purchases."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.list_cursor import CursorPosition
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.storage import counters
from chalicelib.storage.counters import Counted
from chalicelib.storage.customers import CustomerRow, build_customer
from chalicelib.storage.dynamodb.attributes import JsonAttribute, TimestampAttribute, optional
from chalicelib.storage.dynamodb.indexes import index
from chalicelib.storage.dynamodb.table import Key, Table, account_key, read_indexed, read_together
from chalicelib.storage.dynamodb.transactions import try_write
from chalicelib.storage.dynamodb.unit_of_work import Contention, Rows
from chalicelib.storage.lists import read_index_page


class PurchaseRow(Table):
    """The table row of a purchase. The id is derived from the source and the external id."""

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
    metadata = optional(JsonAttribute)
    attributes = optional(JsonAttribute)
    by_customer = index("customer_id", "created_at")
    input_hash = optional(UnicodeAttribute)
    sent_at = TimestampAttribute()
    send_at = optional(TimestampAttribute)


@dataclass(frozen=True)
class Version:
    """A version of a purchase.

    Attributes:
        input_hash: the hash of the input from which the version was recorded; None after an erasure
            of the customer.
        sent_at: the time at which the partner sent the version.
    """

    purchase: Purchase
    input_hash: str | None
    sent_at: datetime


def find(account_id: str, purchase_id: str) -> Purchase | None:
    """Load a purchase of the account, without its customer and its store's name.

    Return None if it does not exist. One consistent request.
    """
    row = PurchaseRow.find(account_key(account_id, purchase_id))
    return build_purchase_from(row) if row else None


def find_with_customer(
    account_id: str, purchase_id: str, customer_id: str | None
) -> tuple[Purchase | None, Customer | None]:
    """Load a purchase and, if there is an id, a customer of the account. One consistent request."""
    if customer_id is None:
        return find(account_id, purchase_id), None
    purchase, customer = read_together(
        (PurchaseRow, account_key(account_id, purchase_id)),
        (CustomerRow, account_key(account_id, customer_id)),
    )
    return (
        build_purchase_from(purchase) if purchase else None,
        build_customer(customer) if customer else None,
    )


def put(write: Rows, account_id: str, version: Version, earlier: Version | None) -> None:
    """Create a purchase or replace its earlier version, in this transaction.

    A new purchase is added to the account's count.
    The transaction fails if the purchase has changed since it was loaded.
    """
    purchase = version.purchase
    if not earlier:
        counters.count(write, account_id, Counted.PURCHASES, purchase.id)
    copied = {name: getattr(purchase, name) for name in _COPIED}
    row = PurchaseRow(
        account_key(account_id, purchase.id),
        account_id=account_id,
        metadata=purchase.metadata or None,
        attributes=[value.model_dump(mode="json") for value in purchase.attributes] or None,
        input_hash=version.input_hash,
        sent_at=version.sent_at,
        **copied,
    )
    write.save(row, _is_version(earlier) if earlier else PurchaseRow.has(key=None))


def set_sent_at(account_id: str, version: Version, sent_at: datetime) -> None:
    """Store that the partner has sent the stored version again, at this time. One request.

    Raises:
        Contention: the purchase has changed since it was loaded.
    """
    row = PurchaseRow(account_key(account_id, version.purchase.id))
    actions = PurchaseRow.changes(sent_at=sent_at)
    if not try_write(lambda: row.update(actions, _is_version(version))):
        raise Contention(condition_failed=True)


_COPIED: Final = (
    "id created_at updated_at store_id customer_id date start_date end_date external_id source"
    " send_at"
).split()


def confirm_unchanged(write: Rows, account_id: str, purchase: Purchase) -> None:
    """Check in this transaction that a purchase has not changed since it was loaded.

    A request that reads the purchase and another row can see one row before and the other row after
    a transaction that changes both.
    """
    key = account_key(account_id, purchase.id)
    write.condition_check(Key(PurchaseRow, key), _is_unchanged(purchase))


def _is_version(version: Version) -> Condition:
    return _is_unchanged(version.purchase, sent_at=version.sent_at)


def _is_unchanged(purchase: Purchase, **also: Any) -> Condition:
    customer_id, updated_at = purchase.customer_id, purchase.updated_at
    return PurchaseRow.has(customer_id=customer_id, updated_at=updated_at, **also)


def of_customer(account_id: str, customer_id: str) -> Iterator[Purchase]:
    """Yield the customer's purchases. One request per MB of index entries and per 100 purchases."""
    for row in read_indexed(PurchaseRow, PurchaseRow.by_customer.query(customer_id)):
        if row.account_id == account_id and row.customer_id == customer_id:
            yield build_purchase_from(row)


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
    rows = read_together(*((PurchaseRow, account_key(account_id, id_)) for id_ in purchase_ids))
    return {row.id: build_purchase_from(row) for row in rows if row}


def erase_customer(write: Rows, account_id: str, purchase: Purchase, at: datetime) -> None:
    """Remove the customer, the metadata and the attributes of a purchase, in this transaction.

    The transaction fails if the purchase has changed since it was loaded.
    """
    write.update(
        PurchaseRow(account_key(account_id, purchase.id)),
        PurchaseRow.changes(
            customer_id=None, metadata=None, attributes=None, input_hash=None, updated_at=at
        ),
        _is_unchanged(purchase),
    )


def build_version(row: PurchaseRow) -> Version:
    """Build the stored version of a purchase from its table row."""
    return Version(build_purchase_from(row), row.input_hash, row.sent_at)


def build_purchase_from(row: PurchaseRow) -> Purchase:
    """Build a purchase from its table row."""
    return Purchase.model_validate(row.attribute_values)
