"""Record a purchase from a definition. Recording the same purchase again updates it."""

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
from chalicelib.services.customers.request_positions import request_positions
from chalicelib.storage import customers, places, purchases
from chalicelib.storage.dynamodb.transactions import retry_on_contention


def record_purchase(account_id: str, definition: Any) -> Purchase:
    """Create the purchase, or update the existing purchase with the same source and external id.

    If the definition contains a customer id, the purchase belongs to that customer. If it contains
    a customer object, the purchase belongs to the oldest customer with the same e-mail and phone,
    or to a new customer. The transaction that saves the purchase also updates the customer's
    purchase count.

    Raises:
        InvalidInput: the definition is invalid.
        InputTooLarge: the purchase exceeds its size limit.
        Unavailable: the database throttles, or contention persists.
    """

    def has_customer(customer_id: str) -> bool:
        return bool(customers.find_many(account_id, [customer_id]))

    parsed = parse_purchase_definition(definition, places.load_directory(account_id), has_customer)
    record_id = purchase_id(account_id, parsed.source, parsed.external_id)
    customer_id = _customer_of(account_id, record_id, parsed)

    def attempt() -> Purchase:
        earlier = purchases.find(account_id, record_id, consistent=True)
        now = clock.now()
        purchase = build_purchase(
            parsed, account_id, customer_id, earlier.created_at if earlier else now, now
        )
        if len(purchase.model_dump_json().encode()) > MAX_PURCHASE_BYTES:
            raise InputTooLarge("purchase", MAX_PURCHASE_BYTES)
        purchases.save(account_id, purchase, earlier)
        return purchase

    return retry_on_contention(attempt)


def _customer_of(account_id: str, record_id: str, purchase: PurchaseDefinition) -> str | None:
    if purchase.customer is None:
        return purchase.customer_id
    # The customer's id is derived from the purchase's id, so recording the purchase again creates
    # no second customer.
    customer = customer_from_body(
        purchase.customer,
        derived_id(record_id, "customer"),
        clock.now(),
        data_sources=(purchase.source,),
    )
    pair = pair_of(customer.email, customer.phone_number)
    if pair:
        customer_id, is_listed = customers.find_or_create(account_id, customer, pair)
    else:
        created = customers.create(account_id, customer)
        customer_id, is_listed = created.customer.id, created.is_listed
    if not is_listed:
        request_positions(account_id)
    return customer_id
