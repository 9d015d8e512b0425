"""Derive the contacts of customers: keyed hashes of their ids and normalized addresses."""

from chalicelib.domain.customers.contact_hash import email_hash, email_hashes, pair_hash, phone_hash
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import CustomerPair
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


def lookup_keys(
    account_id: str, email: str | None, phone_number: str | None
) -> dict[Channel, tuple[str, ...]]:
    """Return the keys under which the contact of each given address may be stored, by channel.

    The first key of each channel is the current one.
    """
    phone = phone_key(account_id, phone_number)
    keys = {
        Channel.EMAIL: email_keys(account_id, email),
        Channel.SMS: (phone,) if phone else (),
    }
    return {channel: each for channel, each in keys.items() if each}


def email_key(account_id: str, email: str | None) -> str | None:
    """Return the key of the contact of an e-mail address, or None without an address."""
    contact_hash = email_hash(account_id, email)
    return contact_key(contact_hash) if contact_hash else None


def email_keys(account_id: str, email: str | None) -> tuple[str, ...]:
    """Return the keys under which the contact of an e-mail address may be stored.

    The first key is the current one. Only an address with an international domain has more keys,
    because earlier versions of the service stored its contact under the spelling of the address.
    """
    return tuple(map(contact_key, contact_hashes(account_id, Channel.EMAIL, email)))


def pair_keys(account_id: str, pair: CustomerPair | None) -> tuple[str, ...]:
    """Return the keys under which the contact of a pair may be stored, the current one first."""
    digests = pair.digests if pair else ()
    return tuple(contact_key(pair_hash(account_id, digest)) for digest in digests)


def phone_key(account_id: str, phone_number: str | None) -> str | None:
    """Return the key of the contact of a phone number, or None without a number.

    Numbers are compared in the format E.164. A number that is not valid in the account's default
    region is compared by its digits.
    """
    (contact_hash,) = contact_hashes(account_id, Channel.SMS, phone_number) or (None,)
    return contact_key(contact_hash) if contact_hash else None


def contact_hashes(account_id: str, channel: Channel, address: str | None) -> tuple[str, ...]:
    """Return the contact hashes of an address, the current one first; none without an address.

    An e-mail address with an international domain has several. A phone number has one: of its
    format E.164, or of its digits if it is invalid.
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
