"""The table of purchases."""

from typing import Any

from pynamodb.attributes import UnicodeAttribute
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage import counters, customers
from chalicelib.storage.counters import Counted
from chalicelib.storage.dynamodb.attributes import JsonAttribute
from chalicelib.storage.dynamodb.table import Table, account_key
from chalicelib.storage.dynamodb.transactions import transaction


class _ByCustomer(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_customer"
        projection = KeysOnlyProjection()

    customer_id = UnicodeAttribute(hash_key=True)
    created_at = UnicodeAttribute(range_key=True)


class PurchaseRow(Table):
    """The table row of a purchase. The id is derived from the source and the external id."""

    class Meta:
        name = "purchases"

    key = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    id = UnicodeAttribute()
    created_at = UnicodeAttribute()
    updated_at = UnicodeAttribute()
    store_id = UnicodeAttribute()
    customer_id = UnicodeAttribute(null=True)
    date = UnicodeAttribute()
    start_date = UnicodeAttribute()
    end_date = UnicodeAttribute()
    external_id = UnicodeAttribute()
    source = UnicodeAttribute()
    metadata = JsonAttribute(null=True)
    attributes = JsonAttribute(null=True)
    by_customer = _ByCustomer()


def find(account_id: str, purchase_id: str) -> Purchase | None:
    """Load a purchase of the account, without its customer and its store's name.

    Return None if it does not exist. One consistent request.
    """
    try:
        row = PurchaseRow.get(account_key(account_id, purchase_id), consistent_read=True)
    except PurchaseRow.DoesNotExist:
        return None
    return Purchase.model_validate(row.attribute_values)


def save(account_id: str, purchase: Purchase, earlier: Purchase | None) -> None:
    """Create a purchase or replace its earlier version, and update the purchase counts.

    A new purchase is added to the account's count. If the customer changes, the counts of both
    customers are updated in the same transaction.

    Raises:
        Contention: the purchase has changed since it was loaded, or the customer does not exist.
        Unavailable: DynamoDB throttles or does not respond.
    """
    unchanged: Any = PurchaseRow.key.does_not_exist()
    if earlier:
        unchanged = PurchaseRow.updated_at == format_timestamp(earlier.updated_at)
    before = earlier.customer_id if earlier else None
    now = purchase.updated_at
    with transaction() as write:
        write.save(_row(account_id, purchase), unchanged)
        if earlier is None:
            counters.count(write, account_id, Counted.PURCHASES, purchase.id)
        if purchase.customer_id != before:
            if purchase.customer_id:
                customers.count_purchase(
                    write, account_id, purchase.customer_id, 1, purchase.source, now
                )
            if before:
                customers.count_purchase(write, account_id, before, -1, purchase.source, now)


def count_of_customer(account_id: str, customer_id: str) -> int:
    """Return the number of the customer's purchases. One request per MB of index entries."""
    is_of_account = PurchaseRow.key.startswith(account_key(account_id, ""))
    return PurchaseRow.by_customer.count(customer_id, filter_condition=is_of_account)


def count_of_account(account_id: str) -> int:
    """Return the number of the account's purchases. Reads the whole table, consistently.

    One request per MB of the table.
    """
    rows = PurchaseRow.scan(
        PurchaseRow.key.startswith(account_key(account_id, "")),
        attributes_to_get=["key"],
        consistent_read=True,
    )
    return sum(1 for _ in rows)


def _row(account_id: str, purchase: Purchase) -> PurchaseRow:
    return PurchaseRow(
        account_key(account_id, purchase.id),
        account_id=account_id,
        id=purchase.id,
        created_at=format_timestamp(purchase.created_at),
        updated_at=format_timestamp(purchase.updated_at),
        store_id=purchase.store_id,
        customer_id=purchase.customer_id,
        date=format_timestamp(purchase.date),
        start_date=format_timestamp(purchase.start_date),
        end_date=format_timestamp(purchase.end_date),
        external_id=purchase.external_id,
        source=purchase.source.value,
        metadata=purchase.metadata or None,
        attributes=[value.model_dump(mode="json") for value in purchase.attributes] or None,
    )
