"""Check and change the opt-ins of customers."""

from collections.abc import Collection, Iterable

from chalicelib.domain import clock
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.storage.customers import OPTIN_OF, CustomerRow, customer_key
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows


def rely_on_recipient(rows: Rows, account_id: str, customer_id: str, channel: Channel) -> None:
    """Rely on the addresses of a customer, and that the customer accepts messages."""
    key = rely_on_addresses(rows, account_id, customer_id)
    rows.value(key, OPTIN_OF[channel])
    if channel is Channel.EMAIL:
        rows.value(key, CustomerRow.email_bounced)


def rely_on_addresses(rows: Rows, account_id: str, customer_id: str) -> Key[CustomerRow]:
    """Rely on the existence and the addresses of a customer. Return its key."""
    key = customer_key(account_id, customer_id)
    rows.get(key, CustomerRow.email, CustomerRow.phone_number)
    return key


def turn_optins_off(
    rows: Rows, account_id: str, customer_id: str, channels: Collection[Channel]
) -> None:
    """Turn opt-ins of a customer off, and rely on the addresses of the customer."""
    key = rely_on_addresses(rows, account_id, customer_id)
    for channel in channels:
        rows.set(key, OPTIN_OF[channel], False)
    rows.set(key, CustomerRow.updated_at, clock.now())


def find_keys_with_contact(channel: Channel, contact_hash: str, at_most: int) -> list[str]:
    """Return the keys of customers with this e-mail address or phone number. One request.

    The index is eventually consistent.

    Args:
        at_most: up to 1,000, so that the response is smaller than 1 MB.
    """
    index = CustomerRow.by_email if channel is Channel.EMAIL else CustomerRow.by_phone
    return [row.key for row in index.query(contact_hash, limit=at_most)]


def find_values_with_contact(
    channel: Channel, contact_hash: str, after: str | None, at_most: int
) -> list[CustomerRow]:
    """Return the customers with this address, in the order of their keys. One request.

    The rows have only the key and the values that a suppression changes, such as the opt-in. The
    index is eventually consistent.

    Args:
        after: the key after which the customers start; None for the first.
        at_most: up to 1,000, so that the response is smaller than 1 MB.
    """
    index = CustomerRow.by_email if channel is Channel.EMAIL else CustomerRow.by_phone
    later = CustomerRow.key > after if after else None
    return list(index.query(contact_hash, later, limit=at_most))


def has_optin(channel: Channel, contact_hashes: Iterable[str], at_most: int) -> bool:
    """Return whether a customer with one of these addresses has the opt-in, and it has not bounced.

    One request for each address. The index is eventually consistent.
    """
    optin = OPTIN_OF[channel].attr_name
    return any(
        row.attribute_values.get(optin) and not (channel is Channel.EMAIL and row.email_bounced)
        for contact_hash in contact_hashes
        for row in find_values_with_contact(channel, contact_hash, None, at_most)
    )
