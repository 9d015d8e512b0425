"""Taking in a purchase, once, however often it arrives."""

from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import customer_from_body
from chalicelib.domain.customers.pair import pair_of
from chalicelib.domain.definitions import parse_and_validate
from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.ids import derived_id
from chalicelib.domain.input_errors import InputError
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


def record_purchase(account_id: str, document: Any) -> Purchase:
    """Keeps the purchase that the document describes; a second arrival updates the first.

    The customer is the one named by id, else the oldest with the document's e-mail and phone, else
    a new one; the customer's number of purchases is raised in the same write.

    Raises:
        InvalidInput: the document breaks a rule, or names a store or customer that is not there.
        InputTooLarge: the purchase is over its size limit.
        Unavailable: the database throttles, or contention does not end.
    """
    arrived = parse_and_validate(document, PurchaseDefinition, purchase_errors)
    own_id = purchase_id(account_id, arrived.source, arrived.external_id)
    if places.load_directory(account_id).store(arrived.store_id) is None:
        raise InvalidInput(
            [InputError("/storeId", "unknown_reference", "The account has no such store.")]
        )
    customer_id = _customer_of(account_id, own_id, arrived)

    def attempt() -> Purchase:
        earlier = purchases.find(account_id, own_id, consistent=True)
        now = clock.now()
        purchase = purchase_from(
            arrived, account_id, customer_id, earlier.created_at if earlier else now, now
        )
        if len(purchase.model_dump_json().encode()) > MAX_PURCHASE_BYTES:
            raise InputTooLarge("purchase", MAX_PURCHASE_BYTES)
        purchases.save(account_id, purchase, earlier)
        return purchase

    return retry_on_contention(attempt)


def _customer_of(account_id: str, own_id: str, arrived: PurchaseDefinition) -> str | None:
    if arrived.customer_id:
        if not customers.find_many(account_id, [arrived.customer_id]):
            raise InvalidInput(
                [
                    InputError(
                        "/customerId", "unknown_reference", "The account has no such customer."
                    )
                ]
            )
        return arrived.customer_id
    if arrived.customer is None:
        return None
    # The id follows from the purchase, so that a second arrival makes no second customer.
    customer = customer_from_body(
        arrived.customer,
        derived_id(own_id, "customer"),
        clock.now(),
        data_sources=(arrived.source,),
    )
    pair = pair_of(customer.email, customer.phone_number)
    if pair:
        return customers.find_or_create(account_id, customer, pair)
    return customers.create(account_id, customer)[0].id
