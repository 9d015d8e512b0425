"""Create a customer from a partner's request: ``POST /partners/customer``."""

from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.customers.body import CustomerBody, customer_from_body
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.idempotency import origin_of
from chalicelib.services.customers.request_positions import request_positions
from chalicelib.services.solicitation.contact_keys import optin_keys
from chalicelib.storage import customer_creation, erasures

_OPERATION: Final = "create customer"


def create_customer(
    account_id: str, body: CustomerBody, idempotency_key: str | None = None
) -> Customer:
    """Create a customer, even if another customer has the same email and phone.

    The opt-in of a suppressed address is off, even if the body contains `true`.

    A repeated request with the same idempotency key and input returns the customer as the first
    request created it: the response contains only data of the request, and later changes do not
    appear in it.

    Two AWS requests without contention. While the account's counter is contended, the customer is
    created without a list position, and a message requests a worker to assign one. This takes three
    AWS requests, or four for the first such customer.

    Raises:
        NotFound: the customer that a request with this idempotency key created was erased.
        RecordTooLarge: the customer exceeds its size limit.
        IdempotencyKeyReused: the key was used before with different input.
        Unavailable: the database throttles or does not respond.
    """
    key_input = body.model_dump(mode="json", exclude_none=True)
    origin = origin_of(account_id, _OPERATION, idempotency_key, key_input)
    customer = customer_from_body(body, origin.record_id, clock.now())
    created = customer_creation.create(
        account_id,
        customer,
        origin.input_hash,
        optin_keys(account_id, customer),
        erasures.erasure_id(account_id, customer.id) if idempotency_key else None,
    )
    if not created.is_listed:
        request_positions(account_id)
    origin.check_same_input(created.input_hash)
    created_at = created.customer.created_at
    off = dict.fromkeys(created.refused_optins, False)
    return customer.model_copy(update={"created_at": created_at, "updated_at": created_at, **off})
