"""Read and list customers."""

from collections.abc import Iterable

from chalicelib.domain.customers.customer import Customer, CustomerPage
from chalicelib.domain.errors import NotFound
from chalicelib.domain.paging import PageRequest, page_meta
from chalicelib.services.accounts.directory import account_directory
from chalicelib.storage import customers


def find_customer(account_id: str, customer_id: str) -> Customer | None:
    """Return the account's customer, or None if it does not exist. One AWS request."""
    customer = customers.find(account_id, customer_id)
    return with_tags(account_id, [customer])[0] if customer else None


def read_customer(account_id: str, customer_id: str) -> Customer:
    """Return the account's customer. One AWS request.

    Raises:
        NotFound: the account has no such customer.
    """
    customer = find_customer(account_id, customer_id)
    if customer is None:
        raise NotFound("customer")
    return customer


def list_customers(account_id: str, request: PageRequest) -> CustomerPage:
    """Return one page of the account's customers, oldest first. Two AWS requests."""
    items, total = customers.page(account_id, request)
    return CustomerPage(
        items=with_tags(account_id, items), meta=page_meta(request, len(items), total)
    )


def with_tags(account_id: str, loaded: Iterable[Customer]) -> tuple[Customer, ...]:
    """Return the customers with their tags. No AWS request if all tags are cached.

    If a tag is not cached, the account's directory is loaded again, once for all customers.
    """
    untagged = tuple(loaded)
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
