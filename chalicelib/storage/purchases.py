"""The table of purchases."""

import json
from typing import Any

from pynamodb.attributes import JSONAttribute, UnicodeAttribute

from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage import customers
from chalicelib.storage.dynamodb.table import Table, account_key
from chalicelib.storage.dynamodb.transactions import transaction


class PurchaseRow(Table):
    """A purchase; its id follows from its source and external id."""

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
    metadata = JSONAttribute(null=True)
    attributes = JSONAttribute(null=True)


def find(account_id: str, purchase_id: str, *, consistent: bool = False) -> Purchase | None:
    """The account's purchase with this id, without its customer and store name. One request."""
    try:
        row = PurchaseRow.get(account_key(account_id, purchase_id), consistent_read=consistent)
    except PurchaseRow.DoesNotExist:
        return None
    present = {name: value for name, value in row.attribute_values.items() if value is not None}
    return Purchase.model_validate(present)


def put(account_id: str, purchase: Purchase, earlier: Purchase | None) -> None:
    """Keeps a purchase in place of the earlier one, and its customers' counts with it, at once.

    Raises:
        Contended: the purchase is no longer as it was read, or the customer is gone.
        Unavailable: the database throttles or does not answer.
    """
    unchanged: Any = PurchaseRow.key.does_not_exist()
    if earlier:
        unchanged = PurchaseRow.updated_at == format_timestamp(earlier.updated_at)
    before = earlier.customer_id if earlier else None
    now = purchase.updated_at
    with transaction() as write:
        write.save(_row(account_id, purchase), unchanged)
        if purchase.customer_id != before:
            if purchase.customer_id:
                customers.count_purchase(
                    write, account_id, purchase.customer_id, 1, purchase.source, now
                )
            if before:
                customers.count_purchase(write, account_id, before, -1, purchase.source, now)


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
        attributes=[json.loads(a.model_dump_json()) for a in purchase.attributes] or None,
    )
