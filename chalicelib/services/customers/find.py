"""Find an account's customers by e-mail address, phone number or name."""

from typing import Final

from chalicelib.domain.customers.addresses import email_hash, phone_hash
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.find import MAX_FOUND, CustomerAddress, FoundCustomers
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.phone_number import notations
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.customers.read import with_tags
from chalicelib.storage import customer_consent, customers

MAX_READ: Final = 1_000
"""Maximum number of customers with one address that a request reads."""


def find_by_address(account_id: str, wanted: CustomerAddress) -> FoundCustomers:
    """Return the customers with this e-mail address, this phone number or, if given, both.

    Two AWS requests for an address with up to 100 customers; one more for each further 100
    customers and for each further notation of a phone number. If more than `MAX_READ` customers
    have the address, only that many are read.
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
