"""Read and list customers."""

from chalicelib.domain.customers.customer import Customer, CustomerPage
from chalicelib.domain.errors import NotFound
from chalicelib.domain.paging import PageRequest, page_meta
from chalicelib.storage import customers


def find_customer(account_id: str, customer_id: str) -> Customer | None:
    """Return the account's customer, or None if it does not exist. One request to AWS."""
    return customers.find(account_id, customer_id)


def read_customer(account_id: str, customer_id: str) -> Customer:
    """Return the account's customer. One request to AWS.

    Raises:
        NotFound: the account has no such customer.
    """
    customer = find_customer(account_id, customer_id)
    if customer is None:
        raise NotFound("customer")
    return customer


def list_customers(account_id: str, request: PageRequest) -> CustomerPage:
    """Return one page of the account's customers, oldest first. Two requests to AWS."""
    items, total = customers.page(account_id, request)
    return CustomerPage(items=tuple(items), meta=page_meta(request, len(items), total))
