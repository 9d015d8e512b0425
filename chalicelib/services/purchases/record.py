"""Record a purchase once, however often it arrives."""

from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import customer_from_body
from chalicelib.domain.customers.pair import pair_of
from chalicelib.domain.definitions import parse_and_validate
from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.ids import derived_id
from chalicelib.domain.input_errors import unknown_reference
from chalicelib.domain.purchases.purchase import (
    MAX_PURCHASE_BYTES,
    Purchase,
    PurchaseDefinition,
    purchase_errors,
    purchase_from,
    purchase_id,
)
from chalicelib.storage import customers, places, purchases
from chalicelib.storage.dynamodb.transactions import retry_on_contention


def record_purchase(account_id: str, definition: Any) -> Purchase:
    """Store the purchase that the definition describes; a second arrival updates the first.

    The customer is the one given by id, else the oldest with the definition's email and phone,
    else a new one. The same write increments the customer's purchase count.

    Raises:
        InvalidInput: the definition is invalid, or its store or customer does not exist.
        InputTooLarge: the purchase exceeds its size limit.
        Unavailable: the database throttles, or contention does not end.
    """
    parsed = parse_and_validate(definition, PurchaseDefinition, purchase_errors)
    own_id = purchase_id(account_id, parsed.source, parsed.external_id)
    if places.directory(account_id).store(parsed.store_id) is None:
        raise InvalidInput([unknown_reference("store", "storeId")])
    customer_id = _customer_of(account_id, own_id, parsed)

    def attempt() -> Purchase:
        existing = purchases.find(account_id, own_id, consistent=True)
        now = clock.now()
        purchase = purchase_from(
            parsed, account_id, customer_id, existing.created_at if existing else now, now
        )
        if len(purchase.model_dump_json().encode()) > MAX_PURCHASE_BYTES:
            raise InputTooLarge("purchase", MAX_PURCHASE_BYTES)
        purchases.put(account_id, purchase, existing)
        return purchase

    return retry_on_contention(attempt)


def _customer_of(account_id: str, own_id: str, parsed: PurchaseDefinition) -> str | None:
    if parsed.customer_id:
        if not customers.find_many(account_id, [parsed.customer_id]):
            raise InvalidInput([unknown_reference("customer", "customerId")])
        return parsed.customer_id
    if parsed.customer is None:
        return None
    # The id derives from the purchase, so that a second arrival creates no second customer.
    customer = customer_from_body(
        parsed.customer,
        derived_id(own_id, "customer"),
        clock.now(),
        data_sources=(parsed.source,),
    )
    pair = pair_of(customer.email, customer.phone_number)
    if pair:
        return customers.find_or_create(account_id, customer, pair)
    return customers.create(account_id, customer)[0].id
