"""Suppress a contact, or lift its suppression, and change all customers with its address."""

from datetime import datetime
from typing import Final, Protocol

from pynamodb.transactions import TransactWrite

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import Conflict
from chalicelib.domain.solicitation.channel import OPTINS, Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.storage import account_changes, contacts, customer_consent
from chalicelib.storage.contacts import ContactRow
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.transactions import (
    CONDITION_FAILED,
    Contention,
    retry_on_contention,
    transaction,
)

_MAX_CUSTOMERS: Final = 98
"""Maximum number of customers in a transaction of 100 writes. The other two are for the contact and
the audit.
"""


def suppress(
    account_id: str,
    contact_hash: str,
    channel: Channel,
    reason: SuppressionReason,
    at: datetime,
    change: AccountChange | None = None,
) -> None:
    """Suppress a channel of a contact, and change all customers with its address.

    After a permanent bounce, the e-mail address of these customers is marked as bounced. For any
    other reason, their opt-in is turned off. The suppression also applies to customers who get this
    address later. A repeated call has no further effect.

    Two requests; one more for each further 98 customers. The index of customers is eventually
    consistent, so a customer that was created in the last second may keep the opt-in. This customer
    still receives no message, because the contact is suppressed.

    Args:
        change: the change to store for the audit; None if no operator made it.

    Raises:
        Unavailable: the database throttles, or contention persists. A repeated call completes the
            work.
    """
    key = contacts.contact_key(contact_hash)
    consent = {OPTINS[channel]: False}
    if reason is SuppressionReason.BOUNCED and channel is Channel.EMAIL:
        consent = {"email_bounced": True}

    def add_writes(write: TransactWrite, group: list[str], *, is_last: bool) -> None:
        contacts.suppress(write, account_id, key, channel, reason, at)
        for customer_key in group:
            customer_consent.change_with_address(
                write, customer_key, channel, contact_hash, **consent
            )
        if change and is_last:
            account_changes.add(write, account_id, [change])

    found = customer_consent.find_keys_with_contact(channel, contact_hash)
    _change_customers(found, add_writes)


def lift(account_id: str, contact_hash: str, channel: Channel, change: AccountChange) -> None:
    """Lift the suppression of a contact, and store the change for the audit.

    The e-mail address of the customers with this address counts as not bounced afterwards. Their
    opt-in does not change. The requests are those of `suppress`.

    Raises:
        Conflict: the contact is not suppressed, or an operator must not lift the suppression.
        Unavailable: the database throttles, or contention persists.
    """
    key = contacts.contact_key(contact_hash)

    def add_writes(write: TransactWrite, group: list[str], *, is_last: bool) -> None:
        for customer_key in group:
            customer_consent.change_with_address(
                write, customer_key, channel, contact_hash, email_bounced=False
            )
        if is_last:
            contacts.lift(write, key, channel, change.operator, change.changed_at)
            account_changes.add(write, account_id, [change])

    is_email = channel is Channel.EMAIL
    found = customer_consent.find_keys_with_contact(channel, contact_hash) if is_email else []
    _change_customers(found, add_writes)


class _AddWrites(Protocol):
    def __call__(self, write: TransactWrite, group: list[str], *, is_last: bool) -> None:
        """Add the writes for a group of customers, by key, to a transaction."""


def _change_customers(waiting: list[str], add_writes: _AddWrites) -> None:
    """Change the customers in transactions. Run at least one transaction."""

    def attempt() -> None:
        group = waiting[:_MAX_CUSTOMERS]
        try:
            with transaction() as write:
                add_writes(write, group, is_last=len(group) == len(waiting))
        except Contention as contention:
            for failed, code in contention.failed_writes:
                if code == CONDITION_FAILED and failed["TableName"] == CustomerRow.table_name():
                    # The customer was erased, or the address has changed.
                    waiting.remove(failed["Key"]["key"]["S"])
                if code == CONDITION_FAILED and failed["TableName"] == ContactRow.table_name():
                    raise Conflict("The suppression of the address has changed.") from None
            raise
        del waiting[: len(group)]

    retry_on_contention(attempt)
    while waiting:
        retry_on_contention(attempt)
