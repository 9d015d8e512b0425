"""Derive the contacts of customers: keyed hashes of their ids and normalized addresses."""

from chalicelib.domain.customers.pair import pair_of
from chalicelib.domain.solicitation.contact import ContactKind
from chalicelib.domain.solicitation.phone_number import e164
from chalicelib.services.accounts.settings import account_settings
from chalicelib.storage.contacts import contact_key


def email_key(account_id: str, email: str | None) -> str | None:
    """Return the key of the contact of an e-mail address, or None without an address."""
    return contact_key(account_id, ContactKind.EMAIL, email) if email else None


def phone_key(account_id: str, phone_number: str | None) -> str | None:
    """Return the key of the contact of a phone number, or None without a number.

    A number that is not valid in the account's default region is compared by its digits.
    """
    pair = pair_of(None, phone_number)
    if pair is None:
        return None
    valid = valid_number(account_id, phone_number)
    return contact_key(account_id, ContactKind.PHONE, valid or pair.phone_number)


def valid_number(account_id: str, phone_number: str | None) -> str | None:
    """Return a phone number in the format E.164, or None if it is missing or invalid."""
    if not phone_number:
        return None
    return e164(phone_number, account_settings(account_id).default_region)
