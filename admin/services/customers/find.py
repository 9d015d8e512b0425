"""Find an account's customers by e-mail address, phone number or name."""

from collections.abc import Callable, Iterator
from functools import partial

from chalicelib.domain.customers.customer import Customer, joined_name
from chalicelib.domain.paging import all_pages
from chalicelib.domain.solicitation.phone_number import notations
from chalicelib.services.accounts.settings import account_settings
from chalicelib.storage import customers


def find_by_email(account_id: str, email: str) -> list[Customer]:
    """Return the customers with this e-mail address, oldest first. Two AWS requests."""
    return customers.find_by_email(account_id, email)


def find_by_phone_number(account_id: str, phone_number: str) -> list[Customer]:
    """Return the customers with this phone number, oldest first.

    A valid number is found in national and in international notation. Up to four AWS requests.
    """
    region = account_settings(account_id).default_region
    return customers.find_by_phone_numbers(account_id, notations(phone_number, region))


def find_by_name(
    account_id: str, name: str, on_read: Callable[[int, int], None] = lambda _read, _total: None
) -> Iterator[Customer]:
    """Yield the customers whose name contains this text, in list order. Case is ignored.

    There is no index by name, so the function reads the account's list of customers. Two AWS
    requests per 100 customers.

    Args:
        on_read: called with the number of customers of each page and the total.
    """
    text = name.casefold()
    for page, total in all_pages(partial(customers.page, account_id)):
        yield from (customer for customer in page if _has_name(customer, text))
        on_read(len(page), total)


def _has_name(customer: Customer, text: str) -> bool:
    full_name = joined_name(customer.first_name, customer.last_name)
    names = (customer.display_name, full_name, customer.company)
    return any(text in name.casefold() for name in names if name)
