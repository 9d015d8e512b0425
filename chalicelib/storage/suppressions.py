"""Suppress a contact and change all customers with its address, in transactions."""

from datetime import datetime
from typing import Final

from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.storage import contacts, customers
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.transactions import (
    CONDITION_FAILED,
    Contention,
    retry_on_contention,
    transaction,
)

_MAX_CUSTOMERS: Final = 99
"""Maximum number of customers in a transaction of 100 writes. One write is for the contact."""


def suppress(
    account_id: str, contact_hash: str, channel: Channel, reason: SuppressionReason, at: datetime
) -> None:
    """Suppress a channel of a contact, and revoke the consent of the customers with its address.

    Two requests; one more for each further 99 customers. The index of customers is eventually
    consistent, so a customer that was created in the last second may keep the opt-in. This customer
    still receives no message, because the contact is suppressed.

    Raises:
        Unavailable: the database throttles, or contention persists.
    """
    key = contacts.contact_key(contact_hash)
    waiting = customers.find_keys_with_contact(channel, contact_hash)

    def attempt() -> None:
        group = waiting[:_MAX_CUSTOMERS]
        try:
            with transaction() as write:
                contacts.suppress(write, account_id, key, channel, reason, at)
                for customer_key in group:
                    customers.revoke_consent(
                        write,
                        customer_key,
                        channel,
                        contact_hash,
                        is_bounce=reason is SuppressionReason.BOUNCED,
                    )
        except Contention as contention:
            for failed, code in contention.failed_writes:
                if code == CONDITION_FAILED and failed["TableName"] == CustomerRow.table_name():
                    # The customer was erased, or the address has changed.
                    waiting.remove(failed["Key"]["key"]["S"])
            raise
        del waiting[: len(group)]

    retry_on_contention(attempt)
    while waiting:
        retry_on_contention(attempt)
