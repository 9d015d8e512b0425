"""Derive the contacts of customers: keyed hashes of their ids and normalized addresses."""

from chalicelib.domain.customers.contact_hash import email_hashes, pair_hash, phone_hash
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import CustomerPair
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.phone_number import e164
from chalicelib.services.accounts.settings import account_settings
from chalicelib.storage.contacts import contact_key


def current_keys(
    account_id: str, email: str | None, phone_number: str | None
) -> dict[Channel, str]:
    """Return the current key of the contact of each given address, by channel."""
    keys = lookup_keys(account_id, email, phone_number)
    return {channel: each[0] for channel, each in keys.items()}


def lookup_keys(
    account_id: str, email: str | None, phone_number: str | None
) -> dict[Channel, tuple[str, ...]]:
    """Return the keys under which the contact of each given address may be stored, by channel.

    The first key of each channel is the current one. Only an e-mail address with an international
    domain has more keys, because earlier versions of the service stored its contact under the
    spelling of the address.
    """
    addresses = {Channel.EMAIL: email, Channel.SMS: phone_number}
    return {
        channel: tuple(map(contact_key, hashes))
        for channel, address in addresses.items()
        if (hashes := contact_hashes(account_id, channel, address))
    }


def optin_keys(account_id: str, customer: Customer) -> dict[Channel, tuple[str, ...]]:
    """Return the keys of the contacts for which an opt-in of the customer is on, by channel."""
    return lookup_keys(
        account_id,
        customer.email if customer.email_optin else None,
        customer.phone_number if customer.sms_optin else None,
    )


def pair_keys(account_id: str, pair: CustomerPair | None) -> tuple[str, ...]:
    """Return the keys under which the contact of a pair may be stored, the current one first."""
    digests = pair.digests if pair else ()
    return tuple(contact_key(pair_hash(account_id, digest)) for digest in digests)


def contact_hashes(account_id: str, channel: Channel, address: str | None) -> tuple[str, ...]:
    """Return the contact hashes of an address, the current one first; none without an address.

    An e-mail address with an international domain has several. A phone number has one: of its
    format E.164 or, if it is not valid in the account's default region, of its digits.
    """
    if channel is Channel.EMAIL:
        return email_hashes(account_id, address)
    contact_hash = phone_hash(account_id, valid_number(account_id, address) or address)
    return (contact_hash,) if contact_hash else ()


def valid_number(account_id: str, phone_number: str | None) -> str | None:
    """Return a phone number in the format E.164, or None if it is missing or invalid."""
    if not phone_number:
        return None
    return e164(phone_number, account_settings(account_id).default_region)
