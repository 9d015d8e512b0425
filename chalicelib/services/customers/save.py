"""Creating and replacing a customer from an operator's document."""

from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import (
    Customer,
    CustomerDefinition,
    customer_from_definition,
)
from chalicelib.domain.parsing import parse
from chalicelib.storage import customers


def save_customer(account_id: str, document: Any) -> Customer:
    """Creates the customer that the document describes, or replaces the one with its id.

    Its place in the list, its counts and its time of creation stay.

    Raises:
        InvalidInput: the document breaks a rule; every fault is listed.
        InputTooLarge: the customer would be over its size limit.
    """
    customer = customer_from_definition(parse(document, CustomerDefinition), clock.now())
    return customers.replace(account_id, customer)
