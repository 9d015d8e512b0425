"""Suppress an address: no customer with this address receives messages there any more."""

from chalicelib.domain import clock
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.storage import contacts, customers


def suppress_contact(
    account_id: str, contact_key: str, channel: Channel, reason: SuppressionReason
) -> None:
    """Suppress a channel of a contact, and change the customers that received messages there.

    A permanent bounce marks their e-mail address as bounced; any other reason turns their opt-in
    off. The suppression also applies to all other customers with this address, now and later. A
    repeated call has no further effect.

    Two AWS requests, and one more for each further customer.

    Raises:
        Unavailable: the database throttles or does not respond. A repeated call completes the work.
    """
    customer_ids = contacts.suppress(account_id, contact_key, channel, reason, clock.now())
    for customer_id in sorted(customer_ids):
        customers.revoke_consent(
            account_id,
            customer_id,
            channel,
            contact_key,
            is_bounce=reason is SuppressionReason.BOUNCED and channel is Channel.EMAIL,
        )
