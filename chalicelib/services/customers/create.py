"""Create a customer for a partner: ``POST /partners/customer``."""

from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer, CustomerBody, customer_from_body
from chalicelib.domain.idempotency import origin_of
from chalicelib.storage import customers

_OPERATION: Final = "create customer"


def create_customer(
    account_id: str, body: CustomerBody, idempotency_key: str | None = None
) -> Customer:
    """Create a customer, even if another has the same email and phone. Two requests to AWS.

    The same key with the same input returns the customer that it created, as it is now.

    Raises:
        InputTooLarge: the customer exceeds its size limit.
        IdempotencyKeyReused: the key was used before with another input.
        Unavailable: the database throttles, or contention does not end.
    """
    key_input = body.model_dump(mode="json", exclude_none=True)
    origin = origin_of(account_id, _OPERATION, idempotency_key, key_input)
    customer = customer_from_body(body, origin.record_id, clock.now())
    stored, input_hash = customers.create(account_id, customer, origin.input_hash)
    origin.check_same_input(input_hash)
    return stored
