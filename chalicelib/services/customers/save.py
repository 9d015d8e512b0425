"""Create or replace a customer from a definition."""

from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.accounts.tags import merge_tags, tag_id
from chalicelib.domain.customers.customer import (
    Customer,
    CustomerDefinition,
    build_customer,
)
from chalicelib.domain.definitions import parse_definition
from chalicelib.services.accounts.save_tags import save_tags
from chalicelib.services.customers.request_positions import request_positions
from chalicelib.storage import customers, places
from chalicelib.storage.dynamodb.transactions import retry_on_contention


def save_customer(account_id: str, definition: Any) -> Customer:
    """Create the customer, or replace the existing customer with the same id.

    Tags belong to the account: new tags of the definition are created, and the colours in the
    definition apply to all customers with these tags. Replacing a customer does not change its
    position in the list, its feedback and purchase counts or its creation time.

    Raises:
        InvalidInput: the definition is invalid, or the account would have too many tags.
        InputTooLarge: the customer exceeds its size limit.
    """
    parsed = parse_definition(definition, CustomerDefinition)
    tag_ids = {tag_id(account_id, tag.tag) for tag in parsed.tags}

    def attempt() -> customers.Created:
        existing = places.find_tags(account_id, tag_ids)
        now = clock.now()
        tags = merge_tags(account_id, parsed.tags, existing, now)
        customer = build_customer(parsed, tags, now)
        save_tags(account_id, tags, existing)
        return customers.replace(account_id, customer)

    saved = retry_on_contention(attempt)
    if not saved.is_listed:
        request_positions(account_id)
    return saved.customer
