"""Find an account's customers by e-mail address, phone number or name."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from chalicelib.domain.customers.contact_hash import email_hash, phone_hash
from chalicelib.domain.customers.customer import Customer, joined_name
from chalicelib.domain.customers.find import MAX_FOUND, CustomerAddress, FoundCustomers
from chalicelib.domain.paging import all_pages
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.phone_number import notations
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.customers.read import with_tags
from chalicelib.storage import customer_consent, customers

MAX_READ: Final = 1_000
"""Maximum number of customers with one address that a request reads."""


def find_by_email(account_id: str, email: str) -> list[Customer]:
    """Return the customers with this e-mail address, oldest first. Two AWS requests."""
    return customers.find_by_email(account_id, email)


def find_by_phone_number(account_id: str, phone_number: str) -> list[Customer]:
    """Return the customers with this phone number, oldest first.

    A valid number is found in national and in international notation. Up to four AWS requests.
    """
    region = account_settings(account_id).default_region
    return customers.find_by_phone_numbers(account_id, notations(phone_number, region))


def find_by_address(account_id: str, wanted: CustomerAddress) -> FoundCustomers:
    """Return the customers with this e-mail address, this phone number or, if given, both.

    Two AWS requests for an address with up to 100 customers. One more for each further 100
    customers and for each further notation of a phone number.
    If more than `MAX_READ` customers have the address, only that many are read.
    """
    numbers: set[str] = set()
    if wanted.phone_number:
        region = account_settings(account_id).default_region
        numbers = set(notations(wanted.phone_number, region))
    if wanted.email:
        found = customers.find_by_email(account_id, wanted.email, at_most=MAX_READ)
    else:
        found = customers.find_by_phone_numbers(account_id, numbers, at_most=MAX_READ)
    if numbers:
        hashes = {phone_hash(account_id, number) for number in numbers}
        found = [c for c in found if phone_hash(account_id, c.phone_number) in hashes]
    shown = with_tags(account_id, found[:MAX_FOUND])
    return FoundCustomers(items=shown, has_more=len(found) > MAX_FOUND)


def find_with_same_address(account_id: str, customer: Customer) -> list[str]:
    """Return the ids of the other customers with the e-mail address or the phone number.

    At most `MAX_READ` customers are read for the address and for each notation of the number, so an
    address that many customers have does not make an erasure slow.

    One AWS request for the address and per notation of the number. The indexes are eventually
    consistent.
    """
    keys: list[str] = []
    if contact_hash := email_hash(account_id, customer.email):
        keys += customer_consent.find_keys_with_contact(Channel.EMAIL, contact_hash, MAX_READ)
    if customer.phone_number:
        region = account_settings(account_id).default_region
        hashes = {phone_hash(account_id, n) for n in notations(customer.phone_number, region)}
        for phone in sorted(filter(None, hashes)):
            keys += customer_consent.find_keys_with_contact(Channel.SMS, phone, MAX_READ)
    ids = {key.partition("#")[2] for key in keys}
    return sorted(ids - {customer.id})


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
