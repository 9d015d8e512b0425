"""Add the current tags to customers. A stored customer contains only the ids of its tags."""

from collections.abc import Iterable

from chalicelib.domain.customers.customer import Customer
from chalicelib.services.accounts.directory import account_directory


def with_tags(account_id: str, customers: Iterable[Customer]) -> tuple[Customer, ...]:
    """Return the customers with their tags. No AWS request if all tags are cached.

    If a tag is not cached, the account's directory is loaded again, once for all customers.
    """
    untagged = tuple(customers)
    tag_ids = {tag_id for customer in untagged for tag_id in customer.tag_ids}
    if not tag_ids:
        return untagged
    tags = account_directory(account_id).tags
    if not tag_ids <= tags.keys():
        tags = account_directory.refresh(account_id).tags
    return tuple(
        customer.model_copy(
            update={"tags": tuple(tags[tag_id] for tag_id in customer.tag_ids if tag_id in tags)}
        )
        if customer.tag_ids
        else customer
        for customer in untagged
    )
