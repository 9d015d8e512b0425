"""Create or replace a customer from an operator's definition."""

from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import (
    Customer,
    CustomerDefinition,
    customer_from_definition,
)
from chalicelib.domain.parsing import parse
from chalicelib.storage import customers


def save_customer(account_id: str, definition: Any) -> Customer:
    """Create the customer that the definition describes, or replace the customer with its id.

    A replaced customer keeps its list position, its counts and its creation time.

    Raises:
        InvalidInput: the definition is invalid; every validation error is listed.
        InputTooLarge: the customer exceeds its size limit.
    """
    customer = customer_from_definition(parse(definition, CustomerDefinition), clock.now())
    return customers.replace(account_id, customer)
