"""Record a purchase from a definition, once, however often it arrives."""

from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import customer_from_body
from chalicelib.domain.customers.pair import pair_of
from chalicelib.domain.errors import InputTooLarge
from chalicelib.domain.ids import derived_id
from chalicelib.domain.purchases.purchase import (
    MAX_PURCHASE_BYTES,
    Purchase,
    PurchaseDefinition,
    build_purchase,
    parse_purchase_definition,
    purchase_id,
)
from chalicelib.storage import customers, places, purchases
from chalicelib.storage.dynamodb.transactions import retry_on_contention


def record_purchase(account_id: str, definition: Any) -> Purchase:
    """Save the purchase; a second arrival updates the first.

    The customer is the one with the given id, else the oldest with the given e-mail and phone, else
    a new one. The same write increases the customer's number of purchases.

    Raises:
        InvalidInput: the definition is invalid.
        InputTooLarge: the purchase is over its size limit.
        Unavailable: the database throttles, or contention does not end.
    """

    def has_customer(customer_id: str) -> bool:
        return bool(customers.find_many(account_id, [customer_id]))

    parsed = parse_purchase_definition(definition, places.load_directory(account_id), has_customer)
    own_id = purchase_id(account_id, parsed.source, parsed.external_id)
    customer_id = _customer_of(account_id, own_id, parsed)

    def attempt() -> Purchase:
        earlier = purchases.find(account_id, own_id, consistent=True)
        now = clock.now()
        purchase = build_purchase(
            parsed, account_id, customer_id, earlier.created_at if earlier else now, now
        )
        if len(purchase.model_dump_json().encode()) > MAX_PURCHASE_BYTES:
            raise InputTooLarge("purchase", MAX_PURCHASE_BYTES)
        purchases.save(account_id, purchase, earlier)
        return purchase

    return retry_on_contention(attempt)


def _customer_of(account_id: str, own_id: str, purchase: PurchaseDefinition) -> str | None:
    if purchase.customer is None:
        return purchase.customer_id
    # Derived from the purchase, so a second arrival creates no second customer.
    customer = customer_from_body(
        purchase.customer,
        derived_id(own_id, "customer"),
        clock.now(),
        data_sources=(purchase.source,),
    )
    pair = pair_of(customer.email, customer.phone_number)
    if pair:
        return customers.find_or_create(account_id, customer, pair)
    return customers.create(account_id, customer)[0].id
