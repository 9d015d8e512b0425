"""Create or replace a customer from a definition."""

from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import (
    Customer,
    CustomerDefinition,
    build_customer,
)
from chalicelib.domain.definitions import parse_definition
from chalicelib.services.customers.request_positions import request_positions
from chalicelib.storage import customers


def save_customer(account_id: str, definition: Any) -> Customer:
    """Create the customer, or replace the one with the same id.

    Replacing a customer does not change its position in the list, its feedback and purchase counts
    or its creation time.

    Raises:
        InvalidInput: the definition is invalid.
        InputTooLarge: the customer exceeds its size limit.
    """
    customer = build_customer(parse_definition(definition, CustomerDefinition), clock.now())
    saved = customers.replace(account_id, customer)
    if not saved.is_listed:
        request_positions(account_id)
    return saved.customer
