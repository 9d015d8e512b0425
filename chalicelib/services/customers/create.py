"""Create a customer from a partner's request: ``POST /partners/customer``."""

from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer, CustomerBody, customer_from_body
from chalicelib.domain.idempotency import origin_of
from chalicelib.services.customers.tags import with_tags
from chalicelib.storage import customers

_OPERATION: Final = "create customer"


def create_customer(
    account_id: str, body: CustomerBody, idempotency_key: str | None = None
) -> Customer:
    """Create a customer, even if another customer has the same email and phone.

    If the idempotency key was used before with the same input, return the current data of the
    customer that the first request created. Two AWS requests.

    Raises:
        InputTooLarge: the customer exceeds its size limit.
        IdempotencyKeyReused: the key was used before with different input.
        Unavailable: the database throttles, or contention persists.
    """
    key_input = body.model_dump(mode="json", exclude_none=True)
    origin = origin_of(account_id, _OPERATION, idempotency_key, key_input)
    customer = customer_from_body(body, origin.record_id, clock.now())
    stored, input_hash = customers.create(account_id, customer, origin.input_hash)
    origin.check_same_input(input_hash)
    return with_tags(account_id, [stored])[0]
