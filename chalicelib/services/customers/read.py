"""Read and list customers."""

from chalicelib.domain.customers.customer import Customer, CustomerPage
from chalicelib.domain.errors import NotFound
from chalicelib.domain.paging import PageRequest, page_meta
from chalicelib.services.customers.tags import with_tags
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
