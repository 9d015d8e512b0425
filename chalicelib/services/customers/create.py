"""Creating a customer for a partner (interface, endpoint 7)."""

from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer, CustomerBody, customer_from_body
from chalicelib.domain.idempotency import origin_of
from chalicelib.storage import customers

ENDPOINT: Final = "POST /partners/customer"


def create_customer(
    account_id: str, body: CustomerBody, idempotency_key: str | None = None
) -> Customer:
    """Makes a customer, also where one with the same e-mail and phone exists. Two requests to AWS.

    The same key with the same input answers with the customer that it made, as it is now.

    Raises:
        InputTooLarge: the customer would be over its size limit.
        IdempotencyKeyReused: the key came before with another input.
        Unavailable: the database throttles, or contention does not end.
    """
    given = body.model_dump(mode="json", exclude_none=True)
    origin = origin_of(account_id, ENDPOINT, idempotency_key, given)
    customer = customer_from_body(body, origin.record_id, clock.now())
    kept, input_hash = customers.create(account_id, customer, origin.input_hash)
    origin.check_same_input(input_hash)
    return kept
