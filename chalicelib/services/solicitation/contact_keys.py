"""Derive the contacts of customers: keyed hashes of their ids and normalized addresses."""

from chalicelib.domain.customers.contact_hash import email_hash, phone_hash
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.phone_number import e164
from chalicelib.services.accounts.settings import account_settings
from chalicelib.storage.contacts import contact_key


def address_keys(account_id: str, customer: Customer) -> dict[Channel, str]:
    """Return the key of the contact of each address that the customer has."""
    keys = {
        Channel.EMAIL: email_key(account_id, customer.email),
        Channel.SMS: phone_key(account_id, customer.phone_number),
    }
    return {channel: key for channel, key in keys.items() if key}


def email_key(account_id: str, email: str | None) -> str | None:
    """Return the key of the contact of an e-mail address, or None without an address."""
    contact_hash = email_hash(account_id, email)
    return contact_key(contact_hash) if contact_hash else None


def phone_key(account_id: str, phone_number: str | None) -> str | None:
    """Return the key of the contact of a phone number, or None without a number.

    Numbers are compared in the format E.164. A number that is not valid in the account's default
    region is compared by its digits.
    """
    contact_hash = phone_contact_hash(account_id, phone_number)
    return contact_key(contact_hash) if contact_hash else None


def phone_contact_hash(account_id: str, phone_number: str | None) -> str | None:
    """Return the contact hash of a phone number in E.164, or of its digits if it is invalid."""
    return phone_hash(account_id, valid_number(account_id, phone_number) or phone_number)


def valid_number(account_id: str, phone_number: str | None) -> str | None:
    """Return a phone number in the format E.164, or None if it is missing or invalid."""
    if not phone_number:
        return None
    return e164(phone_number, account_settings(account_id).default_region)
