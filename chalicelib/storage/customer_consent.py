"""Check and change the opt-ins of customers."""

from collections.abc import Collection
from typing import Final

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.storage.customers import CustomerRow, has_same_addresses
from chalicelib.storage.dynamodb.table import account_key


def confirm_recipient(
    write: TransactWrite,
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
    accepts = has_same_addresses(customer) & (_OPTINS[channel] == True)  # noqa: E712 - an expression
    if channel is Channel.EMAIL:
        bounced = CustomerRow.email_bounced
        accepts &= bounced.does_not_exist() | (bounced == False)  # noqa: E712 - an expression
    if revoked_optins:
        turn_optins_off(write, account_id, customer, revoked_optins, accepts)
    else:
        write.condition_check(CustomerRow, account_key(account_id, customer.id), condition=accepts)


def confirm_addresses(write: TransactWrite, account_id: str, customer: Customer) -> None:
    """Check in this transaction that a customer exists and that no address has changed."""
    key = account_key(account_id, customer.id)
    write.condition_check(CustomerRow, key, condition=has_same_addresses(customer))


def turn_optins_off(
    write: TransactWrite,
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
        actions=[
            *(_OPTINS[channel].set(False) for channel in channels),
            CustomerRow.updated_at.set(clock.now()),
        ],
        condition=has_same_addresses(customer) if condition is None else condition,
    )


def find_keys_with_contact(channel: Channel, contact_hash: str) -> list[str]:
    """Return the keys of the customers with this e-mail address or phone number.

    One request per MB of index entries. The index is eventually consistent.
    """
    index = CustomerRow.by_email if channel is Channel.EMAIL else CustomerRow.by_phone
    return [row.key for row in index.query(contact_hash)]


def revoke_consent(
    write: TransactWrite, key: str, channel: Channel, contact_hash: str, *, is_bounce: bool
) -> None:
    """Turn a customer's opt-in off in this transaction, or mark the address as bounced.

    The transaction fails if the customer no longer exists or the address has changed.
    """
    is_email = channel is Channel.EMAIL
    hashed = CustomerRow.email_hash if is_email else CustomerRow.phone_hash
    is_marked = is_bounce and is_email
    change = CustomerRow.email_bounced.set(True) if is_marked else _OPTINS[channel].set(False)
    updated = CustomerRow.updated_at.set(clock.now())
    write.update(CustomerRow(key), actions=[change, updated], condition=hashed == contact_hash)


def clear_bounce(write: TransactWrite, key: str, contact_hash: str) -> None:
    """Mark a customer's e-mail address as not bounced in this transaction.

    The transaction fails if the customer no longer exists or the address has changed.
    """
    actions: list[Action] = [
        CustomerRow.email_bounced.set(False),
        CustomerRow.updated_at.set(clock.now()),
    ]
    write.update(CustomerRow(key), actions, CustomerRow.email_hash == contact_hash)


_OPTINS: Final = {
    Channel.EMAIL: CustomerRow.email_optin,
    Channel.SMS: CustomerRow.sms_optin,
}
