"""Derive the contacts of customers: keyed hashes of their ids and normalized addresses."""

from chalicelib.domain.customers.addresses import CustomerPair, email_hash, pair_hash, phone_hash
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.phone_number import e164
from chalicelib.services.accounts.settings import account_settings
from chalicelib.storage.contacts import contact_key


def current_keys(
    account_id: str, email: str | None, phone_number: str | None
) -> dict[Channel, str]:
    """Return the key of the contact of each given address, by channel."""
    addresses = {Channel.EMAIL: email, Channel.SMS: phone_number}
    return {
        channel: contact_key(contact_hash)
        for channel, address in addresses.items()
        if address and (contact_hash := address_hash(account_id, channel, address))
    }


def optin_keys(account_id: str, customer: Customer) -> dict[Channel, str]:
    """Return the keys of the contacts for which an opt-in of the customer is on, by channel."""
    return current_keys(
        account_id,
        customer.email if customer.email_optin else None,
        customer.phone_number if customer.sms_optin else None,
    )


def pair_key(account_id: str, pair: CustomerPair | None) -> str | None:
    """Return the key of the contact of a pair, or None without a pair."""
    return contact_key(pair_hash(account_id, pair.digest)) if pair else None


def address_hash(account_id: str, channel: Channel, address: str | None) -> str | None:
    """Return the contact hash of an address, or None without an address.

    The hash of a phone number is that of its format E.164 or, if it is not valid in the account's
    default region, of its digits.
    """
    if channel is Channel.EMAIL:
        return email_hash(account_id, address)
    return phone_hash(account_id, valid_number(account_id, address) or address)


def valid_number(account_id: str, phone_number: str | None) -> str | None:
    """Return a phone number in the format E.164, or None if it is missing or invalid."""
    if not phone_number:
        return None
    return e164(phone_number, account_settings(account_id).default_region)
