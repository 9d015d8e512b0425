"""Check and change the opt-ins of customers."""

from collections.abc import Collection, Iterable
from typing import Any

from pynamodb.expressions.condition import Condition

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.solicitation.channel import OPTINS, Channel, optins_off
from chalicelib.storage.customers import CustomerRow, has_same_addresses
from chalicelib.storage.dynamodb.table import Key, account_key
from chalicelib.storage.dynamodb.unit_of_work import Rows


def confirm_recipient(
    write: Rows,
    account_id: str,
    customer: Customer,
    channel: Channel,
    revoked_optins: Collection[Channel],
) -> None:
    """Check in this transaction that a customer still accepts messages at the same addresses.

    The transaction fails if the customer no longer exists, if an address has changed since the
    customer was loaded, or if the customer no longer accepts messages through this channel.

    Args:
        revoked_optins: the channels whose opt-in the transaction turns off.
    """
    accepts = has_same_addresses(customer) & CustomerRow.has(**{OPTINS[channel]: True})
    if channel is Channel.EMAIL:
        accepts &= CustomerRow.has(email_bounced=None) | CustomerRow.has(email_bounced=False)
    if revoked_optins:
        turn_optins_off(write, account_id, customer, revoked_optins, accepts)
    else:
        write.condition_check(Key(CustomerRow, account_key(account_id, customer.id)), accepts)


def confirm_addresses(write: Rows, account_id: str, customer: Customer) -> None:
    """Check in this transaction that a customer exists and that no address has changed."""
    key = account_key(account_id, customer.id)
    write.condition_check(Key(CustomerRow, key), has_same_addresses(customer))


def turn_optins_off(
    write: Rows,
    account_id: str,
    customer: Customer,
    channels: Collection[Channel],
    condition: Condition | None = None,
) -> None:
    """Turn opt-ins of a customer off in this transaction.

    The transaction fails if the condition is false. By default, the condition is that the customer
    exists and that no address has changed since the customer was loaded.
    """
    write.update(
        CustomerRow(account_key(account_id, customer.id)),
        actions=CustomerRow.changes(updated_at=clock.now(), **optins_off(channels)),
        condition=has_same_addresses(customer) if condition is None else condition,
    )


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
    return any(
        getattr(row, OPTINS[channel]) and not (channel is Channel.EMAIL and row.email_bounced)
        for contact_hash in contact_hashes
        for row in find_values_with_contact(channel, contact_hash, None, at_most)
    )


def change_with_address(
    write: Rows, key: str, channel: Channel, contact_hash: str, **values: Any
) -> None:
    """Set attributes of a customer in this transaction. Without values, write nothing.

    The transaction fails if the customer no longer exists or no longer has this address.
    """
    address = "email_hash" if channel is Channel.EMAIL else "phone_hash"
    has_address = CustomerRow.has(**{address: contact_hash})
    if not values:
        write.condition_check(Key(CustomerRow, key), has_address)
        return
    actions = CustomerRow.changes(updated_at=clock.now(), **values)
    write.update(CustomerRow(key), actions, has_address)
